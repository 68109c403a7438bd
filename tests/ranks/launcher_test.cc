// Tests of the ranks that a launcher announces, and of the announcements that are refused.
#include "libcore/ranks/launcher.h"

#include <gtest/gtest.h>

#include <map>

#include "libcore/ranks/mpi.h"
#include "tests/expect_error.h"

namespace voxshard {
namespace {

Environment with(const std::map<std::string, std::string>& variables) {
  return [variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

TEST(Launcher, WithoutOneAllCoresAreInThisProcess) {
  EXPECT_FALSE(find_launch(with({})));
  EXPECT_EQ(start_transport(with({}))->ranks(), 1);
  EXPECT_EQ(start_transport(with({{"OMPI_COMM_WORLD_SIZE", "1"}}))->ranks(), 1);
  EXPECT_FALSE(find_launch(with({{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}}))) << "a batch script outside of srun";
}

TEST(Launcher, EachIsKnownByItsVariable) {
  EXPECT_EQ(find_launch(with({{"OMPI_COMM_WORLD_SIZE", "4"}}))->launcher, "Open MPI");
  EXPECT_EQ(find_launch(with({{"PMI_SIZE", "3"}}))->launcher, "Hydra (MPICH, Intel MPI)");
  EXPECT_EQ(find_launch(with({{"SLURM_STEP_NUM_TASKS", "8"}}))->ranks, 8);
  EXPECT_EQ(find_launch(with({{"OMPI_COMM_WORLD_SIZE", "4"}, {"SLURM_STEP_NUM_TASKS", "1"}}))->ranks, 4)
      << "mpirun in a step of one task";
}

TEST(Launcher, WhatIsNoNumberOfRanksIsRefused) {
  for (const char* text : {"four", "0", "-1", "4x", "99999999999999999999", "2000000"}) {
    expect_error(ErrorKind::kConfig, std::string("PMI_SIZE=") + text, [&] { find_launch(with({{"PMI_SIZE", text}})); });
  }
}

TEST(Launcher, RanksThatMpiDoesNotSeeAreAnError) {
  const Launch launch{.launcher = "Open MPI", .variable = "OMPI_COMM_WORLD_SIZE", .ranks = 4};
  EXPECT_NO_THROW(require_launched(launch, 4));
  EXPECT_THROW(require_launched(launch, 1), Error);
  if (built_with_mpi()) return;
  EXPECT_THROW(start_transport(with({{"OMPI_COMM_WORLD_SIZE", "4"}})), Error) << "a build without MPI";
}

}  // namespace
}  // namespace voxshard
