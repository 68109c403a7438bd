// The facts of hand-made label maps: volumes, areas on the borders by their side in the patient, parts.
#include "pipelines/tasks/segmentation/quality/label_facts.h"

#include <gmock/gmock.h>

#include "io/volume/volume.h"
#include "pipelines/tasks/segmentation/quality/training_ranges.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {
namespace {

using testing::ElementsAre;

/// A map of 6 x 5 x 4 voxels of 1 x 2 x 3 mm that grow to the left, to the back and to the head.
struct SmallMap {
  Volume labels{Geometry{.size = {6, 5, 4}, .spacing = {1, 2, 3}}, Tensor(DType::kI32, {4, 5, 6})};
  void set(std::int64_t x, std::int64_t y, std::int64_t z, std::int32_t label) {
    labels.voxels.as<std::int32_t>()[(z * 5 + y) * 6 + x] = label;
  }
  LabelFacts facts(std::vector<double> least_part_ml = {0, 0, 0}, std::int64_t most_bytes = 0,
                   std::int64_t planes = 0) const {
    return label_facts(LabelSlabs::of(labels.voxels, planes), labels.geometry, least_part_ml, most_bytes);
  }
};

TEST(LabelFacts, AreThoseOfVoxelsCountedByHand) {
  SmallMap map;
  map.set(0, 1, 1, 1), map.set(1, 1, 1, 1), map.set(2, 2, 2, 1);  // on the right border; one part, by a corner
  map.set(5, 1, 1, 1);                                            // on the left border, a part of its own
  map.set(3, 4, 3, 2);                                            // at the back and at the head
  map.set(3, 2, 1, 7);                                            // no class
  for (const std::int64_t planes : {0, 1, 3}) {
    const LabelFacts facts = map.facts({0, 0, 0}, 0, planes);
    EXPECT_THAT(facts.view_mm, ElementsAre(6, 10, 12));
    ASSERT_EQ(facts.classes.size(), 3u);
    EXPECT_EQ(facts.classes[1].voxels, 4);
    EXPECT_DOUBLE_EQ(facts.classes[1].volume_ml, 0.024);
    EXPECT_THAT(facts.classes[1].centre_mm, ElementsAre(2, 2.5, 3.75));
    EXPECT_THAT(facts.classes[2].centre_mm, ElementsAre(3, 8, 9));
    EXPECT_THAT(facts.classes[1].border_mm2, ElementsAre(6, 6, 0, 0, 0, 0));
    EXPECT_EQ(facts.classes[1].parts, 2);
    EXPECT_THAT(facts.classes[2].border_mm2, ElementsAre(0, 0, 0, 3, 0, 2));
    EXPECT_EQ(facts.classes[2].parts, 1);
    EXPECT_EQ(facts.classes[0].voxels, 0);
  }
}

TEST(LabelFacts, BordersAreSidesOfThePatientWhateverTheAxes) {
  SmallMap map;
  map.set(0, 2, 1, 1);
  map.labels.geometry.direction = {-1, 0, 0, 0, -1, 0, 0, 0, 1};  // x grows to the right, y to the front
  EXPECT_THAT(map.facts().classes[1].border_mm2, ElementsAre(0, 6, 0, 0, 0, 0));
  map.labels.geometry.direction = {0, 0, 1, 1, 0, 0, 0, 1, 0};  // x grows to the back, y to the head, z to the left
  ASSERT_EQ(orientation_code(map.labels.geometry), "PSL");
  EXPECT_THAT(map.facts().view_mm, ElementsAre(12, 6, 10));
  EXPECT_THAT(map.facts().classes[1].centre_mm, ElementsAre(3, 0, 4)) << "of the world, not of the axes";
  EXPECT_THAT(map.facts().classes[1].border_mm2, ElementsAre(0, 0, 6, 0, 0, 0));
}

TEST(LabelFacts, SmallPartsDoNotCount) {
  SmallMap map;
  map.set(0, 0, 0, 1), map.set(1, 0, 0, 1), map.set(4, 4, 3, 1);
  EXPECT_EQ(map.facts({0, 0.006, 0}).classes[1].parts, 2) << "a voxel has 0.006 ml";
  EXPECT_EQ(map.facts({0, 0.007, 0}).classes[1].parts, 1);
  EXPECT_EQ(map.facts({0, 0.02, 0}).classes[1].parts, 0);
  EXPECT_EQ(map.facts({0, 0.02, 0}).classes[2].parts, 0) << "of a class without a voxel";
}

TEST(LabelFacts, VoxelsWithHardlyAVolumeMakeNoPartThatCounts) {
  SmallMap map;
  map.set(1, 1, 1, 1);
  for (const double mm : {1e-9, 1e-120}) {  // 20 ml are then 2e31 voxels, or more than any number
    map.labels.geometry.spacing = {mm, mm, mm};
    EXPECT_EQ(map.facts({0, 20, 0}).classes[1].parts, 0) << mm;
    EXPECT_EQ(map.facts({0, 0, 0}).classes[1].parts, 1) << mm;
    EXPECT_EQ(map.facts({0, -1e12, 0}).classes[1].parts, 1) << "as a broken run may say";
  }
}

TEST(LabelFacts, WithoutMemoryForThePartsTheRestIsKnown) {
  SmallMap map;
  for (std::int64_t x = 0; x < 6; x += 2) map.set(x, 1, 1, 1);
  const LabelFacts facts = map.facts({0, 0, 0}, 24);  // two runs
  EXPECT_FALSE(facts.classes[1].parts.has_value());
  EXPECT_EQ(facts.classes[1].voxels, 3);
  EXPECT_EQ(map.facts({0, 0, 0}, 36).classes[1].parts, 3);
}

TEST(LabelFacts, OfAPreparedCaseAreThoseOfItsFiles) {
  Scene scene("facts_of_prepared");
  Volume image = Scene::make_image(1), label = Scene::make_label();
  write_volume(scene.path("image.nii"), image, DiskType::kF32);
  write_volume(scene.path("label.nii"), label, DiskType::kU8);
  PreparedDataset dataset;
  dataset.plan.class_names = {"background", "one", "two"};
  for (int i = 0; i < 8; ++i)
    dataset.cases.push_back({.id = Scene::id(i),
                             .images = {scene.path("image.nii")},
                             .label = scene.path("label.nii"),
                             .foreground = {},
                             .hashes = {},
                             .shape = label.voxels.shape(),
                             .class_voxels = {0, 320, 160},
                             .sources = {}});
  const QualityRanges ranges = training_ranges(dataset, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(ranges.cases, 8);
  EXPECT_THAT(ranges.least_view_mm, ElementsAre(24, 20, 24));
  EXPECT_NEAR(std::exp(ranges.classes.at(1).log_ml.median), 320 * 0.012, 1e-9);
  EXPECT_NEAR(ranges.classes.at(2).least_part_ml, 0.02 * 160 * 0.012, 1e-12);
  EXPECT_THAT(ranges.classes[1].border_mm2, ElementsAre(480, 0, 4 * 8 * 6, 4 * 8 * 6, 160, 160))
      << "x < 4 of 12 x 10 x 8 voxels of 2 x 2 x 3 mm";
  EXPECT_EQ(ranges.channels.at(0).usual, intensity_quantiles(image.voxels));
  EXPECT_EQ(training_ranges(dataset, {0, 1, 2, 3, 4, 5, 6}), QualityRanges{.cases = 7});
}

}  // namespace
}  // namespace voxshard
