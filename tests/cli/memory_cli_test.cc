// The promise of memory is of the whole process, so each law starts one: what it plans by part stands beside the peak
// that it reached, and what it plans over its budget is refused before.
#include "tests/cli/large_volume.h"
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

class MemoryCli : public TrainedCli {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the sanitizer's shadow is part of the peak, and of no plan";
#endif
  }
  /// An image that memory holds easily, and one of 32 million voxels.
  static void write_two_images(const Folder& folder) {
    fs::create_directories(folder / "in");
    fs::copy(data() + "/imagesTs/phantom_002_0000.nii.gz", folder / "in");
    write_bomb(folder / "in/large_0000.nii.gz", 400, 400, 200);
  }
};

/// The bound, with nothing subtracted; a plan far over its peak would refuse what runs.
void expect_within_plan(const CommandResult& r, const std::string& words) {
  ASSERT_EQ(r.exit_code, 0) << words << "\n" << r.err;
  const auto memory = r.json().at("memory");
  const auto planned = memory.at("planned_bytes").get<std::int64_t>();
  const auto peak = memory.at("peak_resident_bytes").get<std::int64_t>();
  EXPECT_LE(peak, planned + planned / 10 + 96 * kMiB) << words << memory;
  EXPECT_LE(planned, peak + peak / 10 * 3 + 96 * kMiB) << words << memory;
  std::int64_t sum = 0;
  for (const auto& part : memory.at("planned")) sum += part.get<std::int64_t>();
  EXPECT_EQ(sum, planned) << words;
  EXPECT_GT(memory.at("planned").at("base"), 0) << words;
  EXPECT_GT(memory.at("budget_bytes"), planned) << words;
}

TEST_F(MemoryCli, PredictTellsThePeakOfItsProcessForAVolumeMuchLargerThanItsArena) {
  Folder folder("memory_predict");
  write_two_images(folder);
  const std::string words =
      "predict " + run() + " " + (folder / "in") + " -o " + (folder / "out") + " --memory 64MiB --json";
  const CommandResult r = run_voxshard(words);
  expect_within_plan(r, words);
  const auto memory = r.json().at("memory");
  EXPECT_GT(memory.at("peak_resident_bytes"), 4 * 32'000'000) << "the volume itself";
  EXPECT_GE(memory.at("planned").at("reading"), 4 * 32'000'000);
  EXPECT_LT(r.json().at("bytes_per_core"), 64 * kMiB);
  EXPECT_THAT(run_voxshard("predict " + run() + " " + (folder / "in") + " -o " + (folder / "again")).out,
              HasSubstr(" resident at the peak"));
}

TEST_F(MemoryCli, EveryCommandStaysWithinItsPlan) {
  Folder folder("memory_all");
  for (const std::string& words : {"prepare " + data() + " -o " + (folder / "work") + " --spacing 4,4,4 --threads 4",
                                   "train " + work() + " -o " + (folder / "run") + kModel + " --crop whole --steps 3",
                                   "train --resume " + (folder / "run") + " --steps 4",
                                   "predict " + run() + " " + data() + "/imagesTr -o " + (folder / "out"),
                                   "evaluate " + (folder / "out") + " " + data() + "/labelsTr"})
    expect_within_plan(run_voxshard(words + " --json"), words);
}

TEST_F(MemoryCli, AnImageOverTheHostMemoryCostsItselfAndSaysWhatWouldFit) {
  Folder folder("memory_case");
  write_two_images(folder);
  const CommandResult r = run_voxshard("predict " + run() + " " + (folder / "in") + " -o " + (folder / "out") +
                                       " --host-memory 192MiB --json");
  EXPECT_EQ(r.exit_code, 8) << r.err;
  EXPECT_EQ(r.json().at("cases").size(), 1u);
  const auto failure = r.json().at("failures").at(0);
  EXPECT_EQ(failure.at("code"), "E_BUDGET");
  EXPECT_THAT(failure.at("message").get<std::string>(), HasSubstr("would fit"));
  EXPECT_LT(r.json().at("memory").at("peak_resident_bytes"), 288 * kMiB) << "it was not read";
}

TEST_F(MemoryCli, EvaluateLeavesOutWhatTheHostMemoryDoesNotHold) {
  Folder folder("memory_evaluate");
  fs::copy(data() + "/labelsTr", folder / "labels", fs::copy_options::recursive);
  write_bomb(folder / "labels/large.nii.gz", 400, 400, 200);
  const std::string words = "evaluate " + (folder / "labels") + " " + (folder / "labels") + " --json";
  const CommandResult r = run_voxshard(words + " --host-memory 192MiB");
  EXPECT_EQ(r.exit_code, 8) << r.err;
  EXPECT_EQ(r.json().at("cases").size(), 2u);
  EXPECT_EQ(r.json().at("failures").at(0).at("case"), "large");
  EXPECT_EQ(r.json().at("failures").at(0).at("code"), "E_BUDGET");
  EXPECT_LT(r.json().at("memory").at("peak_resident_bytes"), 288 * kMiB);
  expect_within_plan(run_voxshard(words), words);
}

TEST_F(MemoryCli, ATrainingOverTheHostMemoryIsRefusedWholeWithASizeThatFits) {
  Folder folder("memory_train");
  const std::string words =
      "train " + work() + " -o " + (folder / "run") + " --base-filters 16 --crop 128x128x128 --fold all --steps 1";
  expect_refusal(words + " --host-memory 400MiB", 7, "budget", "nothing was allocated");
  expect_refusal(words + " --host-memory 400MiB", 7, "budget", "would fit");
  EXPECT_FALSE(fs::exists(folder / "run/results.csv"));
}

}  // namespace
}  // namespace voxshard
