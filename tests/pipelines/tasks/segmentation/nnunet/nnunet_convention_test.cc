// nnU-Net's numbers: crop, sample, target spacing, slices, and the way there and back. Stored numbers are of
// NumPy 1.24.2 and SciPy 1.10.1 (Debian 12); tests/hospital/nnunet_against_scipy.py compares whole data sets.
#include <gmock/gmock.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "pipelines/tasks/segmentation/dataset/prepare_image.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "pipelines/tasks/segmentation/nnunet/nnunet_fingerprint.h"
#include "pipelines/tasks/segmentation/nnunet/nnunet_grid.h"
#include "pipelines/tasks/segmentation/nnunet/nonzero_crop.h"
#include "tests/expect_error.h"
#include "tests/pipelines/prepare_scene.h"

namespace voxshard {
namespace {

using ::testing::ElementsAre;

/// Draws the sample of a case with one channel, cropped to its voxels other than 0.
NnunetCase nnunet_case(const Volume& image, const Volume& label, std::int64_t samples) {
  NumpyRandom random = nnunet_random();
  return nnunet_channel(image, label, {.samples = samples, .box = nonzero_box(image.voxels), .random = random});
}

Volume small_image(float shift = 0) {
  Volume v{Geometry{.size = {5, 4, 3}}, Tensor(DType::kF32, {3, 4, 5})};
  for (std::int64_t i = 0; i < 60; ++i) v.voxels.as<float>()[i] = static_cast<float>(i * 7919 % 101 - 50) + shift;
  return v;
}

Volume small_label() {
  Volume v{Geometry{.size = {5, 4, 3}}, Tensor(DType::kI32, {3, 4, 5})};
  for (std::int64_t i = 0; i < 60; ++i) v.voxels.as<std::int32_t>()[i] = static_cast<std::int32_t>(i * i / 7 % 4);
  return v;
}

/// small_image() with zeros in the slice z = 0 and the column x = 0.
Volume framed_image() {
  Volume v = small_image();
  for (std::int64_t i = 0; i < 60; ++i)
    if (i < 20 || i % 5 == 0) v.voxels.as<float>()[i] = 0;
  return v;
}

NnunetCase sized_case(std::array<double, 3> spacing_mm, std::array<std::int64_t, 3> size) {
  NnunetCase one;
  one.spacing_mm = spacing_mm, one.cropped_size = size;
  return one;
}

TEST(NonzeroCrop, IsTheBoxOfAllVoxelsOtherThanZeroAndAllOfAnEmptyImage) {
  const Box box = nonzero_box(framed_image().voxels);
  EXPECT_EQ(box, (Box{{1, 0, 1}, {2, 4, 4}}));
  Tensor empty(DType::kF32, {2, 3, 4});
  std::fill_n(empty.as<float>(), empty.count(), 0.0F);
  EXPECT_EQ(nonzero_box(empty), Box::whole({2, 3, 4}));
}

TEST(NonzeroCrop, WhatIsCroppedAndPlacedBackLiesWhereItWas) {
  const Volume label = small_label();
  const Box box{{1, 0, 1}, {2, 4, 4}};
  const Volume part = cropped(label, box);
  EXPECT_EQ(part.geometry.origin, (std::array<double, 3>{1, 0, 1}));
  const Volume back = placed_back(part, box, label.geometry);
  for (std::int64_t i = 0; i < 60; ++i)
    EXPECT_EQ(back.voxels.as<std::int32_t>()[i], i < 20 || i % 5 == 0 ? 0 : label.voxels.as<std::int32_t>()[i]);
}

TEST(NnunetFingerprint, EqualsNumpysSampleOfTheCroppedForeground) {
  // RandomState(1234).choice(image[box][label[box] > 0], 1000, replace=True) of both images, joined
  const NnunetCase whole = nnunet_case(small_image(), small_label(), 1000),
                   framed = nnunet_case(framed_image(), small_label(), 1000);
  EXPECT_THAT(framed.cropped_size, ElementsAre(4, 4, 2));
  EXPECT_DOUBLE_EQ(framed.cropped_share, 32.0 / 60);
  const IntensityNumbers n = pooled_sample({&whole, &framed});
  EXPECT_NEAR(n.mean, 3.9365, 1e-12);
  EXPECT_NEAR(n.std, 30.24871018324583, 1e-12);
  EXPECT_EQ(n.min, -48);
  EXPECT_EQ(n.max, 50);
  EXPECT_EQ(n.percentile_00_5, -48);
  EXPECT_EQ(n.median, 3);
  EXPECT_EQ(n.percentile_99_5, 50);
}

/// A second channel for framed_image(): twice small_image() in the slice z = 2, else 0.
Volume second_channel() {
  Volume v = small_image();
  for (std::int64_t i = 0; i < 60; ++i) v.voxels.as<float>()[i] *= i < 40 ? 0.0F : 2.0F;
  return v;
}

TEST(NnunetFingerprint, ChannelsDrawOneAfterTheOtherFromWhatIsNotZeroInAnyOfThem) {
  // RandomState(1234), choice(channel[box][label[box] > 0], 1000, replace=True) of one channel, then of the other
  NonzeroVoxels nonzero;
  nonzero.add(framed_image().voxels), nonzero.add(second_channel().voxels);
  EXPECT_EQ(nonzero.box(), (Box{{1, 0, 0}, {2, 4, 5}}));
  NumpyRandom random = nnunet_random();
  const auto draw = [&](const Volume& channel) {
    const NnunetCase one =
        nnunet_channel(channel, small_label(), {.samples = 1000, .box = nonzero.box(), .random = random});
    EXPECT_DOUBLE_EQ(one.cropped_share, 40.0 / 60);
    return pooled_sample({&one});
  };
  const IntensityNumbers first = draw(framed_image()), second = draw(second_channel());
  EXPECT_NEAR(first.mean, 6.106, 1e-12);
  EXPECT_NEAR(first.std, 26.142355746948283, 1e-12);
  EXPECT_NEAR(second.mean, 1.764, 1e-12);
  EXPECT_NEAR(second.std, 36.82857998891622, 1e-12);
}

TEST(NnunetFingerprint, PercentilesLieBetweenNeighboursLinearly) {
  const NnunetCase few = nnunet_case(small_image(0.25F), small_label(), 7);
  const IntensityNumbers n = pooled_sample({&few});
  EXPECT_NEAR(n.mean, -0.75, 1e-12);
  EXPECT_NEAR(n.std, 33.376638536557273, 1e-12);
  EXPECT_NEAR(n.percentile_00_5, -47.45, 1e-12);
  EXPECT_NEAR(n.percentile_99_5, 49.77, 1e-12);
}

TEST(NnunetFingerprint, CasesWithoutForegroundAddNothing) {
  Volume none = small_label();
  std::fill_n(none.voxels.as<std::int32_t>(), 60, 0);
  const NnunetCase empty = nnunet_case(small_image(), none, 1000);
  EXPECT_TRUE(empty.sample.values.empty());
  EXPECT_FALSE(pooled_sample({&empty}).any);
}

TEST(NnunetFingerprint, ComesThroughAMessageToTheBit) {
  const NnunetCase one = nnunet_case(small_image(0.1F), small_label(), 1000);
  const NnunetCase back =
      nnunet_case_of(nlohmann::ordered_json::from_cbor(nlohmann::ordered_json::to_cbor(nnunet_message(one))));
  EXPECT_EQ(back.sample.values, one.sample.values);
  EXPECT_EQ(back.sample.counts, one.sample.counts);
  EXPECT_EQ(back.cropped_share, one.cropped_share);
}

TEST(NnunetFingerprint, DrawsAHundredMillionVoxelsInAll) {
  EXPECT_EQ(nnunet_samples(1), 100000000);
  EXPECT_EQ(nnunet_samples(3), 33333333);
}

TEST(NnunetSpacing, IsTheMedianAndTheTenthPercentileOfAThickAxisWithFewSlices) {
  const NnunetCase a = sized_case({0.8, 0.8, 5}, {44, 50, 9}), b = sized_case({0.7, 0.7, 6}, {52, 61, 8}),
                   c = sized_case({0.9, 0.9, 4}, {40, 47, 11});
  EXPECT_THAT(nnunet_target_spacing({&a, &b, &c}), ElementsAre(0.8, 0.8, testing::DoubleNear(4.2, 1e-12)));
  EXPECT_THAT(
      nnunet_target_spacing({&a, &b}),
      ElementsAre(testing::DoubleNear(0.75, 1e-12), testing::DoubleNear(0.75, 1e-12), testing::DoubleNear(5.1, 1e-12)));
  const NnunetCase many = sized_case({0.8, 0.8, 5}, {44, 50, 20});  // as many slices: the median
  EXPECT_THAT(nnunet_target_spacing({&many}), ElementsAre(0.8, 0.8, 5));
}

TEST(NnunetSpacing, OfTheThickAxisIsNeverBelowTheOthers) {
  const NnunetCase fine = sized_case({1, 1, 0.5}, {60, 60, 9}), thick = sized_case({1, 1, 5}, {60, 60, 9}),
                   other = sized_case({1, 1, 6}, {60, 60, 9});
  const auto target = nnunet_target_spacing({&fine, &fine, &thick, &thick, &other});
  EXPECT_NEAR(target[2], 1 + 1e-5, 1e-12);
}

TEST(NnunetSpacing, SlicesAreKeptApartAlongTheOneWidestAxisOfAnAnisotropicSpacing) {
  EXPECT_EQ(slice_axis({0.8, 0.8, 5}, {1, 1, 1}), 0);
  EXPECT_EQ(slice_axis({1, 4, 1}, {1, 1, 1}), 1);
  EXPECT_EQ(slice_axis({1, 1, 1}, {4, 1, 1}), 2);                     // of the spacing that it gets
  EXPECT_EQ(slice_axis({1, 1, 3}, {1, 1, 1}), std::nullopt);          // three times is not more than three times
  EXPECT_EQ(slice_axis({1.25, 1.25, 0.3}, {1, 1, 1}), std::nullopt);  // two axes share the largest
}

PreparePlan nnunet_plan() {
  PreparePlan plan;
  plan.convention = Convention::kNnunet;
  plan.orientation = "keep";
  plan.normalise = Normalise::kNone;
  plan.class_names = {"background", "one", "two", "three"};
  return plan;
}

TEST(NnunetImage, IsCroppedAndItsLabelsComeBackInTheWholeGrid) {
  for (const char* orientation : {"keep", "RAS"}) {
    PreparePlan plan = nnunet_plan();
    plan.orientation = orientation;
    const PreparedImage image = prepare_image(framed_image(), plan);
    EXPECT_EQ(image.image.voxels.shape(), (Shape{2, 4, 4}));
    const Volume label = prepare_label(small_label(), plan, image.crop);
    EXPECT_TRUE(same_geometry(label.geometry, image.image.geometry));
    const Volume back = restore_label(label, small_label().geometry, plan, image.crop);
    const Geometry original = small_label().geometry;
    EXPECT_EQ(std::memcmp(&back.geometry, &original, sizeof(Geometry)), 0);
    for (std::int64_t i = 0; i < 60; ++i)
      EXPECT_EQ(back.voxels.as<std::int32_t>()[i],
                i < 20 || i % 5 == 0 ? 0 : small_label().voxels.as<std::int32_t>()[i])
          << orientation << " " << i;
  }
}

TEST(NnunetImage, LabelsOfAnotherSpacingComeBackOnTheGridOfTheFile) {
  PreparePlan plan = nnunet_plan();
  plan.spacing_mm = {1.5, 2.5, 3};
  const Volume ct = Scene::make_image(1);
  const PreparedImage image = prepare_image(ct, plan);
  EXPECT_TRUE(same_geometry(image.image.geometry, prepared_geometry(ct.geometry, plan, image.crop), 1e-9));
  const Volume label = prepare_label(Scene::make_label(), plan, image.crop);
  EXPECT_TRUE(same_geometry(label.geometry, image.image.geometry));
  const Volume back = restore_label(label, ct.geometry, plan, image.crop);
  std::int64_t same = 0;
  for (std::int64_t i = 0; i < back.voxels.count(); ++i)
    same += back.voxels.as<std::int32_t>()[i] == Scene::make_label().voxels.as<std::int32_t>()[i];
  EXPECT_GT(static_cast<double>(same) / static_cast<double>(back.voxels.count()), 0.9);
}

TEST(NnunetImage, ZscoreWithinTheNonzeroVoxelsLeavesTheOthersZero) {
  PreparePlan plan = nnunet_plan();
  plan.normalise = Normalise::kZscore, plan.zscore_in_nonzero = true;
  Volume image = framed_image();
  image.voxels.as<float>()[59] = 0, image.voxels.as<float>()[39] = 0;  // zeros at the edge of the crop
  const PreparedImage p = prepare_image(image, plan);
  const auto* x = p.image.voxels.as<float>();
  EXPECT_EQ(x[31], 0);
  double sum = 0, square = 0;
  for (int i = 0; i < 32; ++i) sum += x[i], square += x[i] * x[i];
  EXPECT_NEAR(sum, 0, 1e-5);
  EXPECT_NEAR(square, 30, 1e-4);  // a variance of 1 over the 30 voxels of the mask
}

TEST(NnunetPlan, IsReadBackAndOursHasNoWordOfIt) {
  PreparePlan plan = nnunet_plan();
  plan.zscore_in_nonzero = true;
  EXPECT_EQ(plan_from_json(nlohmann::json(to_json(plan))), plan);
  EXPECT_FALSE(to_json(PreparePlan()).contains("convention"));
  nlohmann::json wrong = to_json(plan);
  wrong["convention"] = "other";
  expect_error(ErrorKind::kConfig, "convention", [&] { plan_from_json(wrong); });
}

PrepareOptions nnunet_preparation(const Scene& scene, bool resume = false) {
  PrepareOptions options = preparation(scene, "median", resume);
  options.convention = Convention::kNnunet, options.orientation = "keep";
  return options;
}

TEST(NnunetPrepare, WritesTheConventionTheSampledNumbersAndCroppedVolumes) {
  Scene scene("nnunet_prepare");
  scene.write_dataset(3);
  const PrepareReport report = prepare_dataset(nnunet_preparation(scene), scene.progress);
  ASSERT_EQ(report.prepared, 3);
  EXPECT_EQ(report.plan.convention, Convention::kNnunet);
  const nlohmann::json fingerprint = read_json(scene.work() / "fingerprint.json");
  EXPECT_THAT(fingerprint.at("foreground_hu").at("rule").get<std::string>(), testing::HasSubstr("nnU-Net"));
  EXPECT_EQ(fingerprint.at("per_case").at(1).at("size_after_crop"), nlohmann::json({12, 10, 8}));
  // case_0 is 0 in its first column of voxels, x = 0, as no other case is
  EXPECT_EQ(fingerprint.at("per_case").at(0).at("size_after_crop"), nlohmann::json({11, 10, 8}));
  const PreparedDataset prepared = read_prepared(scene.work());
  EXPECT_EQ(prepared.plan, report.plan);
  EXPECT_EQ(prepared.cases[0].shape, (Shape{8, 10, 11}));
  EXPECT_EQ(prepared.cases[1].shape, (Shape{8, 10, 12}));
  const std::string before = Scene::bytes_of(prepared.cases[1].images.at(0));
  const PrepareReport again = prepare_dataset(nnunet_preparation(scene, true), scene.progress);
  EXPECT_EQ(again.skipped, 3);
  EXPECT_EQ(Scene::bytes_of(prepared.cases[1].images.at(0)), before);
}

TEST(NnunetPrepare, OptionsThatWouldChangeItsNumbersAreRefused) {
  Scene scene("nnunet_options");
  scene.write_dataset(1);
  PrepareOptions clipped = nnunet_preparation(scene), window = nnunet_preparation(scene);
  clipped.clip_hu = Range{-100, 300};
  window.normalise = Normalise::kWindow;
  expect_error(ErrorKind::kUsage, "{clip}", [&] { prepare_dataset(clipped, scene.progress); });
  expect_error(ErrorKind::kUsage, "window", [&] { prepare_dataset(window, scene.progress); });
}

TEST(NnunetPrepare, SeveralChannelsAreCroppedAlikeAndEachHasItsNumbers) {
  Scene scene("nnunet_channels");
  scene.write_dataset(2);
  for (int i = 0; i < 2; ++i) {
    const std::string name = Scene::id(i) + "_0001.nii.gz";
    write_volume(scene.data() / "imagesTr" / name, Scene::make_image(i + 5), DiskType::kF32);
  }
  scene.edit_dataset([](nlohmann::json& json) { json["channel_names"] = {{"0", "CT"}, {"1", "PET"}}; });
  const PrepareReport report = prepare_dataset(nnunet_preparation(scene), scene.progress);
  ASSERT_EQ(report.prepared, 2);
  EXPECT_EQ(report.plan.normalise, Normalise::kCt);
  ASSERT_EQ(report.plan.further.size(), 1u);
  EXPECT_EQ(report.plan.further[0].normalise, Normalise::kZscore);
  const nlohmann::json by_channel = read_json(scene.work() / "fingerprint.json").at("foreground_by_channel");
  EXPECT_NE(by_channel.at(0).at("values").at("mean"), by_channel.at(1).at("values").at("mean"));
  const PreparedDataset prepared = read_prepared(scene.work());
  // case_0 is 0 in its first column, where its second channel is not
  EXPECT_EQ(prepared.cases[0].shape, (Shape{8, 10, 12}));
  for (const auto& image : prepared.cases[0].images) EXPECT_EQ(read_image(image).voxels.shape(), (Shape{8, 10, 12}));
  const PrepareReport again = prepare_dataset(nnunet_preparation(scene, true), scene.progress);
  EXPECT_EQ(again.skipped, 2);
}

TEST(RegionsPrepare, AreKeptInTheWorkFolder) {
  Scene scene("regions_prepare");
  scene.write_dataset(2);
  scene.edit_dataset([](nlohmann::json& json) {
    json["labels"] = {{"background", 0}, {"all", {1, 2}}, {"part", {2}}};
    json["regions_class_order"] = {1, 2};
  });
  prepare_dataset(preparation(scene), scene.progress);
  const nlohmann::json json = read_json(scene.work() / "dataset.json");
  EXPECT_EQ(json.at("labels"), nlohmann::json({{"background", 0}, {"class_1", 1}, {"part", 2}}));
  EXPECT_EQ(json.at("regions"), nlohmann::json({{"all", {1, 2}}, {"part", {2}}}));
}

}  // namespace
}  // namespace voxshard
