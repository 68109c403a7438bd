// `voxshard evaluate --metrics` on two label maps of one voxel each, as surface_distance_test.py of
// google-deepmind/surface-distance (commit ee651c8) has them: 2 mm apart along x, voxels of 1 x 2 x 3 mm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

/// Writes a .nii of 8 x 6 x 5 bytes with label 1 at (x, 2, 2).
void write_voxel(const std::string& path, std::size_t x) {
  std::string bytes(352 + 8 * 6 * 5, '\0');
  const auto put = [&](std::size_t at, auto value) { std::memcpy(&bytes[at], &value, sizeof value); };
  put(0, std::int32_t{348}), put(70, std::int16_t{2}), put(72, std::int16_t{8}), put(108, 352.0f);
  const std::int16_t size[] = {3, 8, 6, 5, 1, 1, 1, 1};
  const float spacing_mm[] = {1, 1, 2, 3};
  for (std::size_t a = 0; a < 8; ++a) put(40 + 2 * a, size[a]);
  for (std::size_t a = 0; a < 4; ++a) put(76 + 4 * a, spacing_mm[a]);
  put(254, std::int16_t{1});
  for (std::size_t a = 0; a < 3; ++a) put(280 + 20 * a, spacing_mm[a + 1]);
  bytes.replace(344, 3, "n+1");
  bytes[352 + (2 * 6 + 2) * 8 + x] = 1;
  std::ofstream(path, std::ios::binary) << bytes;
}

struct MetricsScene {
  Folder folder{"metrics"};
  std::string evaluate = "evaluate " + (folder / "pred") + " " + (folder / "ref") + " ";

  MetricsScene() {
    std::filesystem::create_directories(folder / "pred");
    std::filesystem::create_directories(folder / "ref");
    write_voxel(folder / "pred/a.nii", 2), write_voxel(folder / "ref/a.nii", 4);
  }
};

TEST(MetricsCli, SurfacesByBothConventions) {
  const MetricsScene scene;
  const CommandResult voxels = run_voxshard(scene.evaluate + "--metrics dice,nsd,hd,hd95,assd,vd --json");
  ASSERT_EQ(voxels.exit_code, 0) << voxels.err;
  const auto scores = voxels.json();
  EXPECT_EQ(scores.at("mean_hd95"), 2.0);
  EXPECT_EQ(scores.at("mean_assd"), 2.0);
  EXPECT_EQ(scores.at("mean_nsd"), 0.0);
  EXPECT_EQ(scores.at("mean_vd"), 0.0);
  EXPECT_EQ(scores.at("surface").at("convention"), "voxels");
  const std::string surfels = "--metrics nsd,hd95,assd --surface-convention surfels --tolerance-mm 1 ";
  const auto published = run_voxshard(scene.evaluate + surfels + "--json").json();
  EXPECT_NEAR(published.at("mean_nsd").get<double>(), 0.5, 1e-12);
  EXPECT_EQ(published.at("mean_hd95"), 2.0);
  EXPECT_NEAR(published.at("mean_assd").get<double>(), 1.5, 1e-12);
  EXPECT_THAT(run_voxshard(scene.evaluate + surfels).out, HasSubstr("surfels"));
}

TEST(MetricsCli, TwoFilesAreOneCase) {
  const MetricsScene scene;
  std::filesystem::rename(scene.folder / "pred/a.nii", scene.folder / "pred/mine.nii");
  const std::string files = (scene.folder / "pred/mine.nii") + " " + (scene.folder / "ref/a.nii");
  const CommandResult r = run_voxshard("evaluate " + files + " --metrics hd95 --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json().at("mean_hd95"), 2.0);
  const CommandResult mixed =
      run_voxshard("evaluate " + (scene.folder / "pred/mine.nii") + " " + (scene.folder / "ref"));
  EXPECT_EQ(mixed.exit_code, 2);
  EXPECT_THAT(mixed.err, HasSubstr("give two label maps, or two folders"));
}

TEST(MetricsCli, TheRuleOfEmptyClassesIsChosenAndNamed) {
  const MetricsScene scene;
  write_voxel(scene.folder / "ref/b.nii", 4);
  std::string bytes = file_text(scene.folder / "ref/b.nii");
  bytes[352 + (2 * 6 + 2) * 8 + 4] = 0;
  for (const char* file : {"pred/b.nii", "ref/b.nii"}) std::ofstream(scene.folder / file, std::ios::binary) << bytes;
  const auto by_nan = run_voxshard(scene.evaluate + "--metrics dice,hd --json").json();
  EXPECT_EQ(by_nan.at("mean_dice"), 0.0);
  EXPECT_EQ(by_nan.at("classes").at(0).at("n").at("dice"), 1);
  const auto by_one = run_voxshard(scene.evaluate + "--empty one --metrics dice,hd --json").json();
  EXPECT_EQ(by_one.at("mean_dice"), 0.5);
  EXPECT_EQ(by_one.at("mean_hd"), 1.0);
  EXPECT_EQ(by_one.at("empty"), "one");
  EXPECT_THAT(run_voxshard(scene.evaluate + "--empty inf --metrics hd").out, HasSubstr("inf (2)"));
}

TEST(MetricsCli, WhatIsNoMetricRuleOrToleranceIsRefused) {
  const MetricsScene scene;
  for (const auto& [words, piece] :
       {std::pair("--metrics jaccard", "expected some of dice,iou,vd,rvd,nsd,hd,hd95,assd"),
        std::pair("--metrics dice,dice", "twice"), std::pair("--metrics dice,", "expected some of"),
        std::pair("--empty zero", "nan,one,inf"), std::pair("--surface-convention mesh", "voxels,surfels"),
        std::pair("--tolerance-mm=-1", "--tolerance-mm: -1 is not in 0 to")}) {
    const CommandResult r = run_voxshard(scene.evaluate + words);
    EXPECT_EQ(r.exit_code, 2) << words << "\n" << r.err;
    EXPECT_THAT(r.err, HasSubstr(piece)) << words;
  }
}

}  // namespace
}  // namespace voxshard
