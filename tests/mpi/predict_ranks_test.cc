// `voxshard predict` under mpirun writes what one process writes, for every task; an input that cannot be read is left
// out alone, and no rank waits for ever.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/base/sanitizer.h"
#include "tests/mpi/launch.h"

namespace voxshard {
namespace {

using nlohmann::json;
using test::built, test::launch, test::Launched, test::mpirun;
using testing::HasSubstr;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

class PredictRanks : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = test::without_mpi()) GTEST_SKIP() << *why;
  }
  /// Runs a command under mpirun; 0 ranks: without a launcher.
  static Launched run(int ranks, const std::string& words) {
    return launch((ranks == 0 ? "" : mpirun(ranks)) + built("voxshard") + " " + words);
  }
  static void run_well(const std::string& words) {
    const Launched r = run(0, words + " --quiet");
    ASSERT_EQ(r.exit_code, 0) << words << "\n" << r.err;
  }
  /// Runs `words` over ranks; expects exit code `code`, and files equal to those of one process. Returns the report.
  static json expect_same(int ranks, const std::string& words,
                          const std::vector<std::pair<std::string, std::string>>& files, int code) {
    const Launched r = run(ranks, words + " --json");
    EXPECT_EQ(r.exit_code, code) << words << "\n" << r.err;
    for (const auto& [file, alone] : files)
      EXPECT_TRUE(!read_bytes(alone).empty() && read_bytes(file) == read_bytes(alone)) << ranks << " ranks: " << file;
    return json::parse(r.out);
  }
  const ScratchFolder folder_;
};

/// Expects, for a volume of 1.3 million voxels, that each rank's peak is within its plan, and that ranks that do not
/// read hold only their boxes.
void expect_small(const json& report, int ranks) {
  ASSERT_EQ(report.at("ranks").size(), static_cast<std::size_t>(ranks)) << report;
  for (const auto& rank : report.at("ranks")) {
    const auto& memory = rank.at("memory");
    const auto planned = memory.at("planned_bytes").get<std::int64_t>();
    EXPECT_GT(memory.at("planned").at("arenas"), 0) << rank;
    if (!test::kShadowed) {
      EXPECT_LE(memory.at("peak_resident_bytes").get<std::int64_t>(), planned + 16 * kMiB) << rank;
    }
    if (rank.at("rank") > 0) {
      EXPECT_FALSE(memory.at("planned").contains("reading") || memory.at("planned").contains("resampling")) << rank;
    }
  }
}

TEST_F(PredictRanks, LabelMapsAreThoseOfOneProcessAndATornFileCostsItself) {
  run_well("demo " + (folder_ / "data") + " --cases 2 --test 2");
  run_well("prepare " + (folder_ / "data") + " -o " + (folder_ / "work") + " --spacing 4,4,4");
  run_well("train " + (folder_ / "work") + " -o " + (folder_ / "run") +
           " --base-filters 4 --depth 3 --crop 16x16x16 --steps 2 --fold all");
  std::ofstream(folder_ / "data/imagesTs/a_torn.nii.gz") << "no volume";
  const std::string words =
      "predict " + (folder_ / "run") + " " + (folder_ / "data/imagesTs") + " --partition 1x2x2x1x1 -o ";
  ASSERT_EQ(run(0, words + (folder_ / "alone") + " --quiet").exit_code, 8);
  for (const int ranks : {2, 3, 4}) {
    const std::string out = folder_ / ("over" + std::to_string(ranks));
    std::vector<std::pair<std::string, std::string>> files;
    for (const std::string name : {"/phantom_002.nii.gz", "/phantom_003.nii.gz", "/quarantine.csv"})
      files.emplace_back(out + name, folder_ / ("alone" + name));
    const json report = expect_same(ranks, words + out, files, 8);
    EXPECT_EQ(report.at("failed"), 1);
    expect_small(report, ranks);
  }
  const Launched many = run(5, words + (folder_ / "many") + " --json");
  EXPECT_EQ(many.exit_code, 5) << many.err;
  EXPECT_THAT(many.err, HasSubstr("[ranks] 5 ranks cannot share out 4 cores"));
}

TEST_F(PredictRanks, CoresOfSeveralRanksTakeTurnsWithinTheBudgetOfEachToTheSameBytes) {
  run_well("demo " + (folder_ / "data") + " --cases 2 --test 1");
  run_well("prepare " + (folder_ / "data") + " -o " + (folder_ / "work") + " --spacing 2,2,2");
  run_well("train " + (folder_ / "work") + " -o " + (folder_ / "run") +
           " --base-filters 16 --depth 3 --norm instance --crop 16x16x16 --steps 1 --fold all");
  const std::string words = "predict " + (folder_ / "run") + " " + (folder_ / "data/imagesTs") + " --threads 2 -o ";
  ASSERT_EQ(run(0, words + (folder_ / "alone") + " --quiet").exit_code, 0);
  const auto file = [&](const std::string& out) { return folder_ / (out + "/phantom_002.nii.gz"); };
  for (const int ranks : {2, 3}) {
    const std::string cut = "cut" + std::to_string(ranks), over = " --partition 1x" + std::to_string(ranks) + "x1x1x1";
    const json all = expect_same(ranks, words + (folder_ / cut) + over, {{file(cut), file("alone")}}, 0);
    EXPECT_EQ(all.at("scratch_bytes"), 0);
    const auto& memory = all.at("ranks").at(0).at("memory");
    const std::int64_t arenas = memory.at("planned").at("arenas"), planned = memory.at("planned_bytes");
    std::string within;
    for (const std::int64_t budget : {planned - 12 * kMiB, planned - arenas / 2}) {  // at first the cores alone fit
      within = over + " --host-memory " + std::to_string(budget);
      const std::string turns = "turns" + std::to_string(ranks) + "_" + std::to_string(budget);
      const json report = expect_same(ranks, words + (folder_ / turns) + within, {{file(turns), file("alone")}}, 0);
      EXPECT_GT(report.at("scratch_bytes"), 0);
      expect_small(report, ranks);
      for (const auto& rank : report.at("ranks")) {
        EXPECT_LE(rank.at("memory").at("planned_bytes").get<std::int64_t>(), budget) << rank;
        EXPECT_LT(rank.at("memory").at("planned").at("arenas").get<std::int64_t>(), arenas) << rank;
      }
    }
    const Launched none = run(ranks, words + (folder_ / "none") + within + " --scratch none");
    EXPECT_EQ(none.exit_code, 7) << none.err;
  }
}

TEST_F(PredictRanks, AFolderWithoutAnImageEndsAllRanksWithItsExitCode) {
  run_well("demo " + (folder_ / "data") + " --cases 2 --test 1");
  run_well("prepare " + (folder_ / "data") + " -o " + (folder_ / "work") + " --spacing 8,8,8");
  run_well("train " + (folder_ / "work") + " -o " + (folder_ / "run") +
           " --base-filters 4 --depth 3 --crop 16x16x16 --steps 2 --fold all --partition 1x2x2x1x1");
  std::ofstream(folder_ / "bad_0000.nii.gz") << "no volume";
  const Launched r = run(
      3, "predict " + (folder_ / "run") + " " + (folder_ / "bad_0000.nii.gz") + " -o " + (folder_ / "out") + " --json");
  EXPECT_EQ(r.exit_code, 4) << r.err;
  EXPECT_THAT(r.err, HasSubstr("none of 1 images could be predicted"));
  const std::string words = "evaluate " + (folder_ / "run") + " " + (folder_ / "work") + " --fold all --json";
  const Launched alone = run(0, words), over = run(3, words);
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  ASSERT_EQ(over.exit_code, 0) << over.err;
  for (const char* number : {"loss", "accuracy", "adaptive_dice32", "categorical_crossentropy", "batches"})
    EXPECT_EQ(json::parse(over.out).at(number), json::parse(alone.out).at(number)) << number;
}

TEST_F(PredictRanks, TheAuditOfTwoRanksIsOneChainWithALineForEachCase) {
  run_well("demo " + (folder_ / "data") + " --cases 2 --test 2");
  run_well("prepare " + (folder_ / "data") + " -o " + (folder_ / "work") + " --spacing 8,8,8");
  run_well("train " + (folder_ / "work") + " -o " + (folder_ / "run") +
           " --base-filters 4 --depth 3 --crop 16x16x16 --steps 2 --fold all --partition 1x2x2x1x1");
  std::ofstream(folder_ / "data/imagesTs/a_torn.nii.gz") << "no volume";
  const std::string words = "predict " + (folder_ / "run") + " " + (folder_ / "data/imagesTs") + " -o ";
  const auto audited = [&](int ranks, const std::string& name) {
    const Launched r = run(ranks, words + (folder_ / name) + " --audit " + (folder_ / (name + ".jsonl")) + " --quiet");
    EXPECT_EQ(r.exit_code, 8) << r.err;
    std::istringstream in(read_bytes(folder_ / (name + ".jsonl")));
    std::vector<json> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
    return lines;
  };
  const std::vector<json> alone = audited(0, "alone"), over = audited(2, "over");
  ASSERT_EQ(over.size(), 3u) << "two cases that were predicted and one that was left out, each once";
  for (std::size_t i = 0; i < over.size(); ++i)
    for (const char* member : {"number", "case", "outcome", "code", "model", "input", "outputs"})
      EXPECT_EQ(over[i].at(member), alone.at(i).at(member)) << member << " of line " << i;
  const Launched checked = run(0, "check --json --audit " + (folder_ / "over.jsonl"));
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_EQ(json::parse(checked.out).at("audit").at("lines"), 3);
  EXPECT_TRUE(json::parse(checked.out).at("audit").at("broken").is_null());
}

TEST_F(PredictRanks, DetectionsAreThoseOfOneProcess) {
  run_well("demo " + (folder_ / "data") + " --task detection --cases 4 --test 2");
  run_well("train " + (folder_ / "data") + " -o " + (folder_ / "run") +
           " --model retinanet --backbone resnet18 --base-filters 8 --pyramid-filters 16 --crop 64x64 --steps 2");
  const std::string words =
      "predict " + (folder_ / "run") + " " + (folder_ / "data/val") + " --postprocess legacy --partition 1x2x2x1 -o ";
  ASSERT_EQ(run(0, words + (folder_ / "alone.json") + " --quiet").exit_code, 0);
  for (const int ranks : {2, 3, 4}) {
    const std::string over = folder_ / ("over" + std::to_string(ranks) + ".json");  // one of its own: none is kept
    expect_same(ranks, words + over, {{over, folder_ / "alone.json"}}, 0);
  }
}

TEST_F(PredictRanks, ClassesOfImagesAndClipsAreThoseOfOneProcess) {
  run_well("demo " + (folder_ / "digits") + " --task classification --cases 20 --test 6");
  run_well("train " + (folder_ / "digits") + " -o " + (folder_ / "run") + " --model digits --steps 2 --batch 4");
  const std::string words = "predict " + (folder_ / "run") + " " + (folder_ / "digits") + " --partition 1x2x2x1 -o ";
  ASSERT_EQ(run(0, words + (folder_ / "alone.json") + " --quiet").exit_code, 0);
  for (const int ranks : {2, 3, 4}) {
    const std::string over = folder_ / ("over" + std::to_string(ranks) + ".json");  // one of its own: none is kept
    expect_same(ranks, words + over, {{over, folder_ / "alone.json"}}, 0);
  }

  run_well("demo " + (folder_ / "motions") + " --task classification --kind motion --cases 6 --test 3");
  run_well("train " + (folder_ / "motions") + " -o " + (folder_ / "clips") +
           " --model r2plus1d18 --base-filters 4 --clip-length 4 --size 32x32 --steps 1 --batch 1");
  const std::string clips =
      "predict " + (folder_ / "clips") + " " + (folder_ / "motions") + " --partition 1x1x2x2x1 -o ";
  ASSERT_EQ(run(0, clips + (folder_ / "clips.json") + " --quiet").exit_code, 0);
  for (const int ranks : {2, 4})
    expect_same(ranks, clips + (folder_ / "over.json"), {{folder_ / "over.json", folder_ / "clips.json"}}, 0);
}

}  // namespace
}  // namespace voxshard
