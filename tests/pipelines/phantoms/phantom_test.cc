// The phantoms are what the documentation says of them.
#include "pipelines/phantoms/phantom.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "io/resampling/resample.h"
#include "libcore/metrics/dice.h"
#include "pipelines/commands/run_demo.h"
#include "pipelines/tasks/segmentation/scores/threshold_baseline.h"
#include "tests/expect_error.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {
namespace {

/// Returns the first eight phantoms of seed 0, made once.
const std::vector<Phantom>& some_phantoms() {
  static const std::vector<Phantom> phantoms = [] {
    std::vector<Phantom> made;
    for (int i = 0; i < 8; ++i) made.push_back(make_phantom({.seed = 0, .index = i}));
    return made;
  }();
  return phantoms;
}

TEST(Phantom, SameSeedSameVoxelsOtherSeedOthers) {
  const Phantom a = make_phantom({.seed = 3, .index = 1}), b = make_phantom({.seed = 3, .index = 1});
  ASSERT_EQ(a.image.voxels.bytes(), b.image.voxels.bytes());
  EXPECT_EQ(std::memcmp(a.image.voxels.data(), b.image.voxels.data(), a.image.voxels.bytes()), 0);
  EXPECT_EQ(std::memcmp(a.label.voxels.data(), b.label.voxels.data(), a.label.voxels.bytes()), 0);
  EXPECT_FALSE(same_geometry(a.image.geometry, make_phantom({.seed = 4, .index = 1}).image.geometry));
}

TEST(Phantom, SizesSpacingsAndOrientationsVaryWithinTheirBounds) {
  std::set<std::string> orientations;
  std::set<std::array<std::int64_t, 3>> sizes;
  for (const Phantom& p : some_phantoms()) {
    orientations.insert(orientation_code(p.image.geometry));
    sizes.insert(p.image.geometry.size);
    EXPECT_TRUE(same_geometry(p.image.geometry, p.label.geometry));
    for (int a = 0; a < 3; ++a) {
      EXPECT_GE(p.image.geometry.size[a], 48);
      EXPECT_LE(p.image.geometry.size[a], 80);
      EXPECT_GE(p.image.geometry.spacing[a], 2);
      EXPECT_LE(p.image.geometry.spacing[a], 4);
    }
  }
  EXPECT_GE(orientations.size(), 6u);
  EXPECT_GE(sizes.size(), 6u);
}

TEST(Phantom, LesionsAreAtLeastTenVoxelsAcrossAndEveryClassIsThere) {
  for (std::size_t i = 0; i < some_phantoms().size(); ++i) {
    const Phantom& p = some_phantoms()[i];
    const Shape shape = p.label.voxels.shape();
    std::array<std::int64_t, 3> low = {999, 999, 999}, high = {-1, -1, -1};
    std::array<std::int64_t, 5> voxels{};
    for (std::int64_t k = 0; k < p.label.voxels.count(); ++k) {
      const int label = p.label.voxels.as<std::int32_t>()[k];
      ++voxels.at(label);
      if (label != kPhantomLesion) continue;
      const std::array<std::int64_t, 3> at = {k / (shape[1] * shape[2]), k / shape[2] % shape[1], k % shape[2]};
      for (int a = 0; a < 3; ++a) low[a] = std::min(low[a], at[a]), high[a] = std::max(high[a], at[a]);
    }
    for (int a = 0; a < 3; ++a) EXPECT_GE(high[a] - low[a] + 1, 10) << "phantom " << i << " axis " << a;
    for (int c = 0; c < 5; ++c) EXPECT_GT(voxels[c], 300) << "phantom " << i << " class " << c;
  }
}

// The demonstration is not trivial: no interval of HU finds the organs.
TEST(Phantom, TheBestThresholdIsClearlyWorseThanAModelMustBe) {
  ThresholdFit fit(5);
  for (const Phantom& p : some_phantoms()) fit.add(p.image.voxels, p.label.voxels);
  const auto best = fit.solve();
  double mean = 0;
  for (int c = 1; c < 5; ++c) mean += best[c].fit_dice / 4;
  EXPECT_LT(mean, 0.6);
  EXPECT_LT(best[kPhantomLesion].fit_dice, 0.3);
}

TEST(Demo, WritesAFolderThatReadsAsADatasetWithEqualBytesForAnyThreads) {
  Scene scene("demo");
  for (int threads : {1, 2}) {
    DemoOptions options{
        .folder = scene.path("t" + std::to_string(threads)), .cases = 2, .test_cases = 1, .threads = threads};
    run_demo(options, scene.progress);
  }
  const Dataset dataset = read_dataset(scene.path("t1"));
  EXPECT_EQ(dataset.training.size(), 2u);
  ASSERT_EQ(dataset.test.size(), 1u);
  EXPECT_TRUE(dataset.test[0].label.has_value());
  EXPECT_EQ(dataset.label_names, phantom_label_names());
  for (const char* file : {"imagesTr/phantom_001_0000.nii.gz", "labelsTs/phantom_002.nii.gz", "dataset.json"})
    EXPECT_EQ(Scene::bytes_of(scene.path("t1") / file), Scene::bytes_of(scene.path("t2") / file)) << file;
}

TEST(Demo, RefusesAnUnknownTask) {
  NoProgress progress;
  expect_error(ErrorKind::kUsage, "poetry", [&] { run_demo({.folder = "never", .task = "poetry"}, progress); });
}

}  // namespace
}  // namespace voxshard
