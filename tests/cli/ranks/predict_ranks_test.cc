// `voxshard predict` under mpirun writes what it writes alone, for every task; one input that cannot be read costs
// itself, and no rank waits for ever.
#include <gmock/gmock.h>

#include "tests/cli/ranks/mpirun.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

class PredictRanks : public MpiTest {
 protected:
  static void run_well(const std::string& words) {
    const CommandResult r = run_voxshard(words + " --quiet");
    ASSERT_EQ(r.exit_code, 0) << words << "\n" << r.err;
  }
  /// The report of `words` over ranks, which writes `file` as `alone` is; `code`: its exit code.
  static nlohmann::json expect_same(int ranks, const std::string& words, const std::string& file,
                                    const std::string& alone, int code) {
    const CommandResult r = run_ranks(ranks, words + " --json");
    EXPECT_EQ(r.exit_code, code) << words << "\n" << r.err;
    EXPECT_TRUE(!file_text(alone).empty() && file_text(file) == file_text(alone)) << ranks << " ranks: " << words;
    return r.json();
  }
};

/// A volume of 1.3 million voxels: what a rank plans is what it takes, and those that do not read hold their boxes
/// alone.
void expect_small(const nlohmann::json& report, int ranks) {
  ASSERT_EQ(report.at("ranks").size(), static_cast<std::size_t>(ranks)) << report;
  for (const auto& rank : report.at("ranks")) {
    const auto& memory = rank.at("memory");
    const auto planned = memory.at("planned_bytes").get<std::int64_t>();
    EXPECT_GT(memory.at("planned").at("arenas"), 0) << rank;
    EXPECT_LE(memory.at("peak_resident_bytes").get<std::int64_t>(), planned + planned / 20 + 96 * kMiB) << rank;
    if (rank.at("rank") > 0) {
      EXPECT_FALSE(memory.at("planned").contains("reading") || memory.at("planned").contains("resampling")) << rank;
    }
  }
}

TEST_F(PredictRanks, LabelMapsAreThoseOfOneProcessAndATornFileCostsItself) {
  Folder folder("rank_volumes");
  run_well("demo " + (folder / "data") + " --cases 2 --test 2");
  run_well("prepare " + (folder / "data") + " -o " + (folder / "work") + " --spacing 4,4,4");
  run_well("train " + (folder / "work") + " -o " + (folder / "run") +
           " --base-filters 4 --depth 3 --crop 16x16x16 --steps 2 --fold all");
  folder.write("data/imagesTs/a_torn.nii.gz", "no volume");
  const std::string words =
      "predict " + (folder / "run") + " " + (folder / "data/imagesTs") + " --partition 1x2x2x1x1 -o ";
  ASSERT_EQ(run_voxshard(words + (folder / "alone") + " --quiet").exit_code, 8);
  for (const int ranks : {2, 3, 4}) {
    const std::string out = folder / ("over" + std::to_string(ranks));
    for (const char* name : {"/phantom_002.nii.gz", "/phantom_003.nii.gz"}) {
      const auto report = expect_same(ranks, words + out, out + name, folder / ("alone" + std::string(name)), 8);
      EXPECT_EQ(report.at("failed"), 1);
      expect_small(report, ranks);
    }
    EXPECT_EQ(file_text(out + "/quarantine.csv"), file_text(folder / "alone/quarantine.csv"));
  }
  const CommandResult many = run_ranks(5, words + (folder / "many") + " --json");
  EXPECT_EQ(many.exit_code, 5) << many.err;
  EXPECT_THAT(many.err, HasSubstr("[ranks] 5 ranks cannot share out 4 cores"));
}

TEST_F(PredictRanks, AFolderWithoutAnImageEndsAllRanksWithItsExitCode) {
  Folder folder("rank_none");
  run_well("demo " + (folder / "data") + " --cases 2 --test 1");
  run_well("prepare " + (folder / "data") + " -o " + (folder / "work") + " --spacing 8,8,8");
  run_well("train " + (folder / "work") + " -o " + (folder / "run") +
           " --base-filters 4 --depth 3 --crop 16x16x16 --steps 2 --fold all --partition 1x2x2x1x1");
  folder.write("bad_0000.nii.gz", "no volume");
  const CommandResult r = run_ranks(
      3, "predict " + (folder / "run") + " " + (folder / "bad_0000.nii.gz") + " -o " + (folder / "out") + " --json");
  EXPECT_EQ(r.exit_code, 4) << r.err;
  EXPECT_THAT(r.err, HasSubstr("none of 1 images could be predicted"));
  const std::string words = "evaluate " + (folder / "run") + " " + (folder / "work") + " --fold all --json";
  const CommandResult alone = run_voxshard(words), over = run_ranks(3, words);
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  ASSERT_EQ(over.exit_code, 0) << over.err;
  for (const char* number : {"loss", "accuracy", "adaptive_dice32", "categorical_crossentropy", "batches"})
    EXPECT_EQ(over.json().at(number), alone.json().at(number)) << number;
}

TEST_F(PredictRanks, DetectionsAreThoseOfOneProcess) {
  Folder folder("rank_pictures");
  run_well("demo " + (folder / "data") + " --task detection --cases 4 --test 2");
  run_well("train " + (folder / "data") + " -o " + (folder / "run") +
           " --model retinanet --backbone resnet18 --base-filters 8 --pyramid-filters 16 --crop 64x64 --steps 2");
  const std::string words =
      "predict " + (folder / "run") + " " + (folder / "data/val") + " --postprocess legacy --partition 1x2x2x1 -o ";
  ASSERT_EQ(run_voxshard(words + (folder / "alone.json") + " --quiet").exit_code, 0);
  for (const int ranks : {2, 3, 4})
    expect_same(ranks, words + (folder / "over.json"), folder / "over.json", folder / "alone.json", 0);
}

TEST_F(PredictRanks, ClassesOfPicturesAndClipsAreThoseOfOneProcess) {
  Folder folder("rank_classes");
  run_well("demo " + (folder / "digits") + " --task classification --cases 20 --test 6");
  run_well("train " + (folder / "digits") + " -o " + (folder / "run") + " --model digits --steps 2 --batch 4");
  const std::string words = "predict " + (folder / "run") + " " + (folder / "digits") + " --partition 1x2x2x1 -o ";
  ASSERT_EQ(run_voxshard(words + (folder / "alone.json") + " --quiet").exit_code, 0);
  for (const int ranks : {2, 3, 4})
    expect_same(ranks, words + (folder / "over.json"), folder / "over.json", folder / "alone.json", 0);

  run_well("demo " + (folder / "motions") + " --task classification --kind motion --cases 6 --test 3");
  run_well("train " + (folder / "motions") + " -o " + (folder / "clips") +
           " --model r2plus1d18 --base-filters 4 --clip-length 4 --size 32x32 --steps 1 --batch 1");
  const std::string clips = "predict " + (folder / "clips") + " " + (folder / "motions") + " --partition 1x1x2x2x1 -o ";
  ASSERT_EQ(run_voxshard(clips + (folder / "clips.json") + " --quiet").exit_code, 0);
  for (const int ranks : {2, 4})
    expect_same(ranks, clips + (folder / "over.json"), folder / "over.json", folder / "clips.json", 0);
}

}  // namespace
}  // namespace voxshard
