// Preparing an image, and the way back to the grid of the file.
#include "pipelines/tasks/segmentation/dataset/prepare_image.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "io/resampling/resample.h"
#include "pipelines/phantoms/phantom.h"
#include "pipelines/tasks/segmentation/samples/sample_source.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {
namespace {

PreparePlan plain_plan() {
  PreparePlan plan;
  plan.normalise = Normalise::kNone;
  plan.class_names = {"background", "one", "two"};
  return plan;
}

TEST(PrepareImage, ClipsThenSubtractsAndDivides) {
  PreparePlan plan = plain_plan();
  plan.clip_hu = Range{2, 8};
  plan.normalise = Normalise::kCt;
  plan.mean_hu = 4, plan.std_hu = 2;
  const PreparedImage p = prepare_image(Scene::make_image(0), plan);  // HU 0 .. 11 along x
  const auto* x = p.image.voxels.as<float>();
  EXPECT_FLOAT_EQ(x[0], -1);
  EXPECT_FLOAT_EQ(x[6], 1);
  EXPECT_FLOAT_EQ(x[11], 2);
}

TEST(PrepareImage, AirAndBoneKeepATenthOfTheirDistanceFromSoftTissue) {
  EXPECT_EQ(soft_tissue_hu(-200), -200);
  EXPECT_EQ(soft_tissue_hu(-37.5), -37.5);
  EXPECT_EQ(soft_tissue_hu(300), 300);
  EXPECT_NEAR(soft_tissue_hu(-1000), -280, 1e-9);
  EXPECT_NEAR(soft_tissue_hu(1300), 400, 1e-9);
  PreparePlan plan = plain_plan();
  plan.clip_hu = Range{-1000, 1300};
  plan.normalise = Normalise::kSoftTissue;
  plan.mean_hu = 100, plan.std_hu = 50;
  Volume ct = Scene::make_image(0);  // HU 0 .. 11 along x
  auto* const hu = ct.voxels.as<float>();
  hu[1] = -3000, hu[2] = 800, hu[3] = 5000;
  const PreparedImage p = prepare_image(ct, plan);
  const auto* x = p.image.voxels.as<float>();
  EXPECT_FLOAT_EQ(x[0], -2);
  EXPECT_FLOAT_EQ(x[1], -7.6F) << "clipped first";
  EXPECT_FLOAT_EQ(x[2], 5);
  EXPECT_FLOAT_EQ(x[3], 6);
  EXPECT_FLOAT_EQ(x[4], -1.92F);
  EXPECT_FLOAT_EQ(air_values(plan).at(0), x[1]) << "air around a volume is what it is in the volume";
  EXPECT_FLOAT_EQ(static_cast<float>(value_range(plan).high), x[3]);
}

TEST(PrepareImage, ZscoreGivesEachImageMeanZeroAndStdOne) {
  PreparePlan plan = plain_plan();
  plan.normalise = Normalise::kZscore;
  const PreparedImage p = prepare_image(Scene::make_image(3), plan);
  double sum = 0, square = 0;
  const auto n = static_cast<double>(p.image.voxels.count());
  for (std::int64_t i = 0; i < p.image.voxels.count(); ++i) {
    const double x = p.image.voxels.as<float>()[i];
    sum += x, square += x * x;
  }
  EXPECT_NEAR(sum / n, 0, 1e-6);
  EXPECT_NEAR(square / n, 1, 1e-6);
  EXPECT_NEAR(p.mean_hu, 305.5, 1e-9);
}

TEST(PrepareImage, ReorientedLabelsComeBackToTheBit) {
  for (const char* code : {"RAS", "PIR", "SLA", "LPS"}) {
    const Volume label = reorient(Scene::make_label(), code);
    const PreparePlan plan = plain_plan();
    const Volume prepared = prepare_label(label, plan);
    EXPECT_EQ(orientation_code(prepared.geometry), "LPS");
    EXPECT_TRUE(same_geometry(prepared.geometry, prepared_geometry(label.geometry, plan), 1e-9)) << code;
    const Volume back = restore_label(prepared, label.geometry, plan);
    EXPECT_EQ(std::memcmp(&back.geometry, &label.geometry, sizeof(Geometry)), 0);
    ASSERT_EQ(back.voxels.bytes(), label.voxels.bytes());
    EXPECT_EQ(std::memcmp(back.voxels.data(), label.voxels.data(), label.voxels.bytes()), 0) << code;
  }
}

TEST(PrepareImage, ImagesNearTheSpacingKeepTheirOwn) {
  PreparePlan plan = plain_plan();
  plan.spacing_mm = {2, 2, 2};
  plan.kept = kept_around(*plan.spacing_mm);
  const std::array<double, 3> size_of_all = {12, 10, 8};  // of make_image(), x, y, z
  for (const auto& [spacing, is_kept] : {std::pair(2.8, true), std::pair(1.43, true), std::pair(2.81, false),
                                         std::pair(1.42, false), std::pair(0.5, false)}) {
    Volume ct = Scene::make_image(0);
    ct.geometry.spacing = {2, spacing, 2.5};
    const Volume label{ct.geometry, Scene::make_label().voxels};
    const PreparedImage p = prepare_image(ct, plan);
    for (std::size_t a = 0; a < 3; ++a)
      EXPECT_EQ(static_cast<double>(p.image.geometry.size[a]),
                is_kept ? size_of_all[a] : std::nearbyint(size_of_all[a] * ct.geometry.spacing[a] / 2))
          << spacing;
    EXPECT_EQ(same_geometry(p.image.geometry, ct.geometry, 1e-9), is_kept) << spacing;
    EXPECT_TRUE(same_geometry(prepare_label(label, plan).geometry, p.image.geometry, 1e-9)) << spacing;
    EXPECT_TRUE(same_geometry(prepared_geometry(ct.geometry, plan), p.image.geometry, 1e-9)) << spacing;
    const Volume back = restore_label(prepare_label(label, plan), label.geometry, plan);
    EXPECT_TRUE(same_geometry(back.geometry, label.geometry, 0)) << spacing;
  }
  EXPECT_EQ(plan_from_json(to_json(plan)), plan);
}

TEST(PrepareImage, AWorldPointStaysWhereItWasWhenResampled) {
  PreparePlan plan = plain_plan();
  plan.spacing_mm = {1.7, 2.6, 2.2};
  const Volume ct = Scene::make_image(0);  // HU = x index, linear: 2 mm apart
  const PreparedImage p = prepare_image(ct, plan);
  EXPECT_TRUE(same_geometry(p.image.geometry, prepared_geometry(ct.geometry, plan), 1e-9));
  for (std::int64_t i = 2; i < p.image.geometry.size[0] - 2; ++i) {
    const double world_x = p.image.geometry.world({static_cast<double>(i), 0, 0})[0];
    EXPECT_NEAR(p.image.voxels.as<float>()[i], (world_x - 5) / 2, 1e-4) << i;
  }
}

TEST(PrepareImage, ResampledLabelsComeBackOnTheInputsGridAlmostWhole) {
  const Phantom phantom = make_phantom({.seed = 1, .index = 5});
  PreparePlan plan = plain_plan();
  plan.spacing_mm = {3.1, 2.9, 3.3};
  const Volume back = restore_label(prepare_label(phantom.label, plan), phantom.label.geometry, plan);
  EXPECT_EQ(std::memcmp(&back.geometry, &phantom.label.geometry, sizeof(Geometry)), 0);
  std::int64_t same = 0;
  const std::int64_t n = back.voxels.count();
  for (std::int64_t i = 0; i < n; ++i)
    same += back.voxels.as<std::int32_t>()[i] == phantom.label.voxels.as<std::int32_t>()[i];
  EXPECT_GT(static_cast<double>(same) / static_cast<double>(n),
            0.96);  // nearest there and back moves edges by half a voxel
}

TEST(PrepareImage, RestoreRefusesALabelOfAnotherGrid) {
  EXPECT_THROW(restore_label(Scene::make_label({5, 5, 5}), Scene::make_label().geometry, plain_plan()), Error);
}

}  // namespace
}  // namespace voxshard
