// Ranks as processes under mpirun: they write what one process writes, and an error of one rank ends all.
#include <gtest/gtest.h>

#include <regex>

#include "tests/mpi/launch.h"
#include "tests/rank_program/scenes.h"

namespace voxshard {
namespace {

using test::built, test::launch, test::Launched, test::mpirun;

class MpiRanks : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = test::without_mpi()) GTEST_SKIP() << *why;
  }
  /// Runs a command under mpirun; 0 ranks: without a launcher.
  Launched run(int ranks, const std::string& words, const std::string& environment = "") {
    return launch(environment + " " + (ranks == 0 ? "" : mpirun(ranks)) + built("rank_program") + " " + words);
  }
  ScratchFolder folder_;
};

class MpiScene : public MpiRanks, public testing::WithParamInterface<std::string> {};

TEST_P(MpiScene, AnyNumberOfRanksWritesTheCheckpointOfOneProcess) {
  const Launched alone = run(0, GetParam() + " " + folder_ / "one");
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  const std::string one = read_bytes(folder_ / "one");
  ASSERT_GT(one.size(), 1000u);
  for (int ranks : {2, 3, 4}) {  // 1 is alone: it starts no MPI
    const std::string file = folder_ / std::to_string(ranks);
    const Launched all = run(ranks, GetParam() + " " + file);
    ASSERT_EQ(all.exit_code, 0) << ranks << " ranks: " << all.err;
    EXPECT_TRUE(read_bytes(file) == one) << ranks << " ranks";
  }
}

INSTANTIATE_TEST_SUITE_P(Scenes, MpiScene, testing::ValuesIn(test::rank_scene_names()),
                         [](const auto& scene) { return scene.param; });

TEST_F(MpiRanks, AnErrorOfOneEndsAllWithItsExitCodeAndSaysWhoseItIs) {
  for (int failing : {0, 2}) {
    const Launched all = run(3, "unet " + folder_ / "x" + " " + std::to_string(failing));
    EXPECT_EQ(all.exit_code, 3) << all.err;
    for (int rank = 0; rank < 3; ++rank) {
      const std::string whose = rank == failing ? "" : "rank " + std::to_string(failing) + " on [^\n]+: ";
      const std::regex line("(^|\n)rank " + std::to_string(rank) + ": ([^\n]+: )?" + whose + "case_7 has no labels");
      EXPECT_TRUE(std::regex_search(all.err, line)) << rank << ": " << all.err;
    }
    EXPECT_FALSE(std::filesystem::exists(folder_ / "x"));
  }
}

TEST_F(MpiRanks, ALauncherOfAnotherMpiIsAnErrorAndWritesNothing) {
  // The number of ranks in the variable of the other MPI: MPICH's for Open MPI and the other way round.
  const std::string variable = test::is_open_mpi() ? "PMI_SIZE" : "OMPI_COMM_WORLD_SIZE";
  const Launched alone = run(0, "unet " + folder_ / "x", variable + "=4");
  EXPECT_EQ(alone.exit_code, 5) << alone.err;
  EXPECT_NE(alone.err.find("announces 4 ranks (" + variable + "), but " + mpi_library()), std::string::npos)
      << alone.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x"));
}

}  // namespace
}  // namespace voxshard
