// Channels on grids of their own: refused, or resampled on the first channel's grid by prepare, and by predict as the
// run says.
#include "pipelines/tasks/channel_grids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "pipelines/tasks/segmentation/volume_task.h"
#include "pipelines/training/run_train.h"
#include "tests/expect_error.h"
#include "tests/io/study_files.h"
#include "tests/pipelines/channel_scene.h"

namespace voxshard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// A field that linear interpolation keeps, of whole numbers where weights are halves.
double field(const std::array<double, 3>& mm) { return 200 + mm[0] + 2 * mm[1] - 4 * mm[2]; }

Volume sampled_field(const Geometry& grid) {
  Volume v{grid, Tensor(DType::kF32, grid.shape())};
  float* out = v.voxels.as<float>();
  for (std::int64_t z = 0; z < grid.size[2]; ++z)
    for (std::int64_t y = 0; y < grid.size[1]; ++y)
      for (std::int64_t x = 0; x < grid.size[0]; ++x)
        *out++ = static_cast<float>(
            field(grid.world({static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)})));
  return v;
}

/// Cases of 16^3 voxels of 2 mm whose second channel is the field, on that grid or on one of 4 mm.
struct GridScene : ChannelScene {
  static Geometry fine() { return {.size = {kSide, kSide, kSide}, .spacing = {2, 2, 2}}; }
  static Geometry coarse() { return {.size = {9, 9, 9}, .spacing = {4, 4, 4}}; }
  explicit GridScene(const std::string& name) : ChannelScene(name) { write_channels(3, 1); }
  void write_fields(const Geometry& grid) const {
    for (int i = 0; i < 4; ++i) write_volume(channel(i, 1, i == 3), sampled_field(grid), DiskType::kF32);
  }
  PrepareOptions resampling(const std::string& work) const {
    PrepareOptions options = preparation();
    options.work = path(work), options.resamples_channels = true, options.normalise = Normalise::kNone;
    return options;
  }
};

TEST(ChannelGrids, AChannelOnAnotherGridIsRefusedUnlessResamplingIsAskedFor) {
  GridScene scene("grids_refused");
  scene.write_fields(GridScene::coarse());
  PrepareOptions options = scene.resampling("refused");
  options.resamples_channels = false;
  expect_error(ErrorKind::kNoCase, "the channel has another shape", [&] { prepare_dataset(options, scene.progress); });
}

TEST(ChannelGrids, LinearFieldsAreTheSameFromAnyGrid) {
  GridScene scene("grids_fields");
  scene.write_fields(GridScene::fine());
  const PrepareReport plain = prepare_dataset(scene.resampling("plain"), scene.progress);
  EXPECT_TRUE(plain.warnings.empty()) << "one grid is left as it is";
  scene.write_fields(GridScene::coarse());
  const PrepareReport report = prepare_dataset(scene.resampling("resampled"), scene.progress);
  EXPECT_EQ(report.prepared, 3);
  ASSERT_EQ(report.warnings.size(), 3u);
  EXPECT_EQ(report.warnings[0].code, "W_RESAMPLED");
  EXPECT_THAT(report.warnings[0].message,
              HasSubstr("channel 1 lies on a grid of its own, 9x9x9 voxels of 4x4x4 mm; it is resampled on that of the "
                        "first channel, of which it covers 100 %"));
  EXPECT_TRUE(read_prepared(scene.path("resampled")).plan.resamples_channels);
  for (const char* id : {"case_0", "case_1", "case_2"})
    for (const std::size_t c : {0, 1})
      EXPECT_TRUE(Scene::bytes_of(prepared_image(scene.path("plain"), id, c, 2)) ==
                  Scene::bytes_of(prepared_image(scene.path("resampled"), id, c, 2)))
          << id << " " << c;
}

TEST(ChannelGrids, AnObliqueGridTooAndWhereItDoesNotReachItsLowestValueCounts) {
  const Geometry first = GridScene::fine();
  Geometry oblique{.size = {20, 20, 20}, .origin = {-6, -4, -3}, .spacing = {3, 2.5, 3}};
  const double c = std::cos(0.2), s = std::sin(0.2);
  oblique.direction = {c, -s, 0, s, c, 0, 0, 0, 1};
  const double part = covered_part(first, oblique);
  EXPECT_GT(part, 0.5);
  EXPECT_LT(part, 1);
  GridScene scene("grids_oblique");
  write_volume(scene.channel(0, 1), sampled_field(oblique), DiskType::kF32);
  const Case item{.id = "a", .images = {scene.channel(0, 0), scene.channel(0, 1)}, .label = scene.label(0)};
  const Volume read = read_channel(item, 1, first, true, volume_formats()), expected = sampled_field(first);
  EXPECT_TRUE(same_geometry(read.geometry, first, 0));
  std::int64_t within = 0, outside = 0;
  const Volume own = sampled_field(oblique);
  const float lowest = *std::min_element(own.voxels.as<float>(), own.voxels.as<float>() + own.voxels.count());
  for (std::int64_t i = 0; i < read.voxels.count(); ++i) {
    const float value = read.voxels.as<float>()[i];
    within += std::abs(value - expected.voxels.as<float>()[i]) < 0.01F ? 1 : 0;
    outside += value == lowest ? 1 : 0;
  }
  const auto all = static_cast<double>(read.voxels.count());
  EXPECT_NEAR(static_cast<double>(within) / all, part, 0.1) << "but for half a voxel at its border";
  EXPECT_NEAR(static_cast<double>(outside) / all, 1 - part, 0.1);
}

TEST(ChannelGrids, AFinerChannelIsSaidAndOneElsewhereIsRefused) {
  GridScene scene("grids_elsewhere");
  write_volume(scene.channel(0, 1), sampled_field({.size = {30, 30, 30}, .spacing = {1, 1, 1}}), DiskType::kF32);
  const Case item{.id = "a", .images = {scene.channel(0, 0), scene.channel(0, 1)}, .label = scene.label(0)};
  const VolumeInfo first = read_volume_info(item.images[0]);
  const VolumeInfo info = channel_info(item, 1, first, true, volume_formats());
  EXPECT_THAT(info.warning, HasSubstr("the channel with the smallest should be first"));
  EXPECT_EQ(info.geometry.size, first.geometry.size);
  EXPECT_EQ(info.extra_bytes - first.extra_bytes, 4 * 30 * 30 * 30) << "both are held at a time";
  EXPECT_EQ(channel_info(item, 1, first, false, volume_formats()).geometry.size[0], 30);
  Geometry away = GridScene::coarse();
  away.origin = {0, 0, 500};
  write_volume(scene.channel(0, 1), sampled_field(away), DiskType::kF32);
  expect_error(ErrorKind::kInput, "shares no place with the first one",
               [&] { read_channel(item, 1, GridScene::fine(), true, volume_formats()); });
}

TEST(ChannelGrids, SeriesInAnotherFrameOfReferenceAreRefused) {
  ScratchFolder dir;
  const StudySeries ct{.slices = 6};
  StudySeries pet{.series = "1.2.840.77.2", .side = 5, .slices = 5, .step_mm = 3};
  write_series(dir.path() / "a_0000", ct), write_series(dir.path() / "a_0001", pet);
  const Case item{.id = "a", .images = {dir.path() / "a_0000", dir.path() / "a_0001"}, .label = {}};
  const Geometry grid = read_volume_info(item.images[0]).geometry;
  EXPECT_TRUE(same_geometry(read_channel(item, 1, grid, true, volume_formats()).geometry, grid, 0));
  pet.frame = "1.2.840.77.10";
  std::filesystem::remove_all(dir.path() / "a_0001");
  write_series(dir.path() / "a_0001", pet);
  expect_error(ErrorKind::kInput, "another frame of reference",
               [&] { read_channel(item, 1, grid, true, volume_formats()); });
}

TEST(ChannelGrids, PredictDoesAsTheRunWasPrepared) {
  GridScene scene("grids_predict");
  scene.write_fields(GridScene::coarse());
  prepare_dataset(scene.resampling("work"), scene.progress);
  TrainOptions o{.work = scene.path("work"), .run = scene.path("run"), .steps = 1, .resources = {.threads = 2}};
  o.task.of<VolumeTaskOptions>().fold = "all";
  o.task.of<VolumeTaskOptions>().sampling.crop = {16, 16, 16};
  o.spec.as<UNetConfig>() = {.base_filters = 4, .depth = 2, .norm = NormKind::kInstance, .slope = 0.01};
  o.spec.precision = DType::kF32;
  run_train(o, scene.progress);
  PredictOptions predict{
      .run = scene.path("run"), .input = scene.data() / "imagesTs", .output = scene.path("resampled")};
  const PredictReport resampled = run_predict(predict, scene.progress);
  ASSERT_EQ(resampled.cases.size(), 1u) << (resampled.failures.empty() ? "" : resampled.failures[0].message);
  EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("case case_3: W_RESAMPLED channel 1 lies on a grid")));
  scene.write_fields(GridScene::fine());
  predict.output = scene.path("plain");
  ASSERT_EQ(run_predict(predict, scene.progress).cases.size(), 1u);
  EXPECT_TRUE(Scene::bytes_of(scene.path("plain") / "case_3.nii.gz") ==
              Scene::bytes_of(scene.path("resampled") / "case_3.nii.gz"));
}

TEST(ChannelGrids, AnEarlierPlanHoldsForTheSameChoiceAlone) {
  GridScene scene("grids_resume");
  scene.write_fields(GridScene::fine());
  PrepareOptions options = scene.resampling("work");
  options.resamples_channels = false;
  prepare_dataset(options, scene.progress);
  EXPECT_FALSE(to_json(read_prepared(scene.path("work")).plan).contains("channel_grids"))
      << "the form of plans without it has not changed";
  options.resume = true, options.resamples_channels = true;
  EXPECT_EQ(prepare_dataset(options, scene.progress).prepared, 3);
  options.resume = true;
  EXPECT_EQ(prepare_dataset(options, scene.progress).skipped, 3);
  const PreparePlan plan = read_prepared(scene.path("work")).plan;
  EXPECT_EQ(plan_from_json(nlohmann::json::parse(to_json(plan).dump())), plan);
}

}  // namespace
}  // namespace voxshard
