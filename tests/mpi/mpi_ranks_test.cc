// Ranks as processes under mpirun: what they write is what one process writes, and what ends one ends all.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "libcore/runtime/mpi.h"
#include "tests/rank_program/scenes.h"

namespace voxshard {
namespace {

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class MpiRanks : public testing::Test {
 protected:
  void SetUp() override {
    if (!built_with_mpi() || std::string(VOXSHARD_MPIRUN).empty())
      GTEST_SKIP() << "no MPI (Debian: libopenmpi-dev openmpi-bin)";
    folder_ = std::filesystem::temp_directory_path() / ("voxshard_mpi_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  /// Under mpirun; 0: without a launcher. Returns the exit code; the program's own words are in said_.
  int run(int ranks, const std::string& words, const std::string& environment = "") {
    const std::string start = ranks == 0 ? ""
                                         : std::string("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 '") +
                                               VOXSHARD_MPIRUN + "' --oversubscribe --bind-to none -n " +
                                               std::to_string(ranks) + " ";
    const auto log = folder_ / "log";
    const int status = std::system(
        (environment + " timeout 120 env " + start + VOXSHARD_RANK_PROGRAM " " + words + " >" + log.string() + " 2>&1")
            .c_str());
    said_ = bytes_of(log);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
  std::string said_;
};

class MpiScene : public MpiRanks, public testing::WithParamInterface<std::string> {};

TEST_P(MpiScene, AnyNumberOfRanksWritesTheCheckpointOfOneProcess) {
  ASSERT_EQ(run(0, GetParam() + " " + path("one")), 0) << said_;
  const std::string one = bytes_of(path("one"));
  ASSERT_GT(one.size(), 1000u);
  for (int ranks : {1, 2, 3, 4}) {
    const std::string file = path(std::to_string(ranks));
    ASSERT_EQ(run(ranks, GetParam() + " " + file), 0) << ranks << " ranks: " << said_;
    EXPECT_TRUE(bytes_of(file) == one) << ranks << " ranks";
  }
}

std::vector<std::string> scene_names() {
  std::vector<std::string> names;
  for (const auto& [name, scene] : test::rank_scenes()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Scenes, MpiScene, testing::ValuesIn(scene_names()));

TEST_F(MpiRanks, AnErrorOfOneEndsAllWithItsExitCodeAndSaysWhoseItIs) {
  for (int failing : {0, 2}) {
    EXPECT_EQ(run(3, "unet " + path("x") + " " + std::to_string(failing)), 3) << said_;
    for (int rank = 0; rank < 3; ++rank) {
      const std::string line =
          "rank " + std::to_string(rank) + ": " + (rank == failing ? "" : "rank " + std::to_string(failing) + " on ");
      EXPECT_NE(said_.find(line), std::string::npos) << line << " in " << said_;
    }
    EXPECT_NE(said_.find("case_7 has no labels"), std::string::npos) << said_;
    EXPECT_FALSE(std::filesystem::exists(path("x")));
  }
}

TEST_F(MpiRanks, ALauncherOfAnotherMpiIsAnErrorAndWritesNothing) {
  EXPECT_EQ(run(0, "unet " + path("x"), "PMI_SIZE=4 PMI_RANK=0"), 5) << said_;
  EXPECT_NE(said_.find("announces 4 ranks (PMI_SIZE), but Open MPI"), std::string::npos) << said_;
  EXPECT_FALSE(std::filesystem::exists(path("x")));
}

}  // namespace
}  // namespace voxshard
