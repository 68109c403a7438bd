// Two and three hosts with addresses and names of their own, as network namespaces of one machine (hosts.sh): ranks on
// them write what one process writes, and errors name the host.
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "tests/mpi/launch.h"

namespace voxshard {
namespace {

using test::built, test::launch, test::Launched;

class Hosts : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = test::without_mpi()) GTEST_SKIP() << *why;
    const Launched check = launch(script() + " --check");
    if (check.exit_code != 0) GTEST_SKIP() << check.err;
  }
  static std::string script() {
    return "MPIRUN='" VOXSHARD_MPIRUN "' bash '" VOXSHARD_SOURCE_DIR "/tests/mpi/hosts.sh'";
  }
  /// Runs a command; `hosts`: "2x3" is two hosts with three ranks each, "" is one process.
  Launched run(const std::string& hosts, const std::string& command) {
    return launch((hosts.empty() ? "" : script() + " " + hosts + " ") + command);
  }
  void expect_runs(const std::string& hosts, const std::string& words) {
    const Launched all = run(hosts, built("voxshard") + " " + words);
    ASSERT_EQ(all.exit_code, 0) << hosts << " " << words << "\n" << all.err;
  }
  ScratchFolder folder_;
};

TEST_F(Hosts, EachRankIsOnItsHostAndAnErrorNamesIt) {
  const Launched all = run("3x1", built("rank_program") + " unet " + folder_ / "x" + " 1");
  EXPECT_EQ(all.exit_code, 3) << all.err;
  for (const char* rank : {"0", "2"}) {
    const std::regex line(std::string("(^|\n)rank ") + rank + ": ([^\n]+: )?rank 1 on node-b: case_7 has no labels");
    EXPECT_TRUE(std::regex_search(all.err, line)) << all.err;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x"));
}

/// Returns the files below a folder by their relative paths.
std::map<std::string, std::string> files_below(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files[std::filesystem::relative(entry.path(), folder)] = read_bytes(entry.path());
  return files;
}

TEST_F(Hosts, ATrainingAPredictionAndAVerifyAreThoseOfOneProcess) {
  const std::string data = folder_ / "data", work = folder_ / "work";
  expect_runs("", "demo " + data + " --cases 2 --test 1 --quiet");
  expect_runs("", "prepare " + data + " -o " + work + " --spacing 8,8,8 --quiet");
  const std::string model = " --base-filters 4 --depth 3 --partition 1x2x2x2x1";
  std::map<std::string, std::string> masks;
  std::string checkpoint, verified;
  for (const std::string hosts : {"", "2x2", "3x1"}) {
    const std::string run_folder = folder_ / ("run" + hosts), predicted = folder_ / ("predicted" + hosts);
    expect_runs(hosts, "train " + work + " -o " + run_folder + model +
                           " --crop 16x16x16 --steps 4 --fold all --threads 1 --quiet");
    expect_runs(hosts, "predict " + run_folder + " " + data + "/imagesTs -o " + predicted + " --threads 1 --quiet");
    const std::string trained = read_bytes(run_folder + "/checkpoints/last.safetensors");
    std::map<std::string, std::string> written;
    for (const auto& [name, bytes] : files_below(predicted))
      if (name.ends_with(".nii.gz")) written[name] = bytes;
    if (hosts.empty()) {
      checkpoint = trained, masks = written;
      ASSERT_GT(checkpoint.size(), 1000u);
      ASSERT_EQ(masks.size(), 1u);
    }
    EXPECT_TRUE(trained == checkpoint) << hosts;
    EXPECT_TRUE(written == masks) << hosts;
    const Launched verify =
        run(hosts, built("voxshard") + " verify --size 16x16x16 --precision f32 --threads 1 --json" + model);
    EXPECT_EQ(verify.exit_code, 0) << hosts << verify.err;
    if (hosts.empty()) verified = verify.out;
    EXPECT_EQ(verify.out, verified) << hosts;
  }
  EXPECT_NE(verified.find("\"bit_equal\""), std::string::npos) << verified;
}

}  // namespace
}  // namespace voxshard
