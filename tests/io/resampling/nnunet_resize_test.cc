// Resizing as nnU-Net does it, against numbers of scikit-image 0.19.3 and SciPy 1.10.1 (Debian 12):
//   image, label: i = arange(60); ((i * 7919) % 101 - 50).reshape(3, 4, 5), ((i * i // 7) % 4).reshape(3, 4, 5)
//   resize(image.astype(float), shape, 3, mode='edge', anti_aliasing=False)
//   for c in unique(label): out[resize((label == c).astype(float), shape, 1, mode='edge', clip=True,
//                                      anti_aliasing=False) >= 0.5] = c
#include <gmock/gmock.h>

#include <cmath>

#include "io/resampling/label_resize.h"
#include "io/resampling/spline_resize.h"

namespace voxshard {
namespace {

Tensor small_image() {
  Tensor image(DType::kF32, {3, 4, 5});
  for (std::int64_t i = 0; i < image.count(); ++i) image.as<float>()[i] = static_cast<float>(i * 7919 % 101 - 50);
  return image;
}

Tensor small_labels() {
  Tensor labels(DType::kI32, {3, 4, 5});
  for (std::int64_t i = 0; i < labels.count(); ++i)
    labels.as<std::int32_t>()[i] = static_cast<std::int32_t>(i * i / 7 % 4);
  return labels;
}

void expect_image(const Tensor& image, const Shape& shape, const std::vector<double>& expected) {
  ASSERT_EQ(image.shape(), shape);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(image.as<float>()[i], expected[i], 1e-5) << i;
}

std::vector<std::int32_t> values_of(const Tensor& labels) {
  return {labels.as<std::int32_t>(), labels.as<std::int32_t>() + labels.count()};
}

TEST(SplineResize, EqualsScikitImage) {
  expect_image(
      resize_spline(small_image(), {4, 6, 3}, std::nullopt), {4, 6, 3},
      {-42.3539175, 29.510546,   -5.04256518,   -40.9121147, 31.2382925,  -3.60076234, -38.6190021, 32.991994,
       -1.30764971, -36.6417839, 34.5908307,    0.669568434, -34.8198064, 41.4961432,  2.49154593,  -33.7799815,
       47.6193032,  3.53137089,  -36.5311236,   49.5877478,  0.780228768, -34.8391178, 48.579659,   2.47223452,
       -33.0179941, 50,          4.29335826,    -31.3718626, 50,          5.93948979,  -25.1019281, 18.9826778,
       12.2094242,  -19.6141463, -23.5301959,   17.6972061,  -21.1972767, 14.0637351,  16.1140756,  -19.505271,
       13.0556464,  17.8060814,  -17.6841472,   19.9702943,  19.6272051,  -16.0380157, 25.1893863,  21.2733367,
       -9.76808127, -16.5413349, 27.5432711,    -4.28029939, -50,         33.031053,   -7.58431409, -50,
       29.7270383,  -6.14251126, -49.312651,    31.1688411,  -3.84939863, -47.5589496, 33.4619537,  -1.87218048,
       -45.9601128, 35.4391719,  -0.0502029822, -39.0548003, 37.2611494,  0.989621972, -32.9316403, 38.3009743});
}

TEST(SplineResize, SlicesAreResizedAndClippedByThemselvesAndTheNearestOneIsTaken) {
  const std::vector<double> first = {-47.2791422, 15.9600616, -8.46433234, 7.7330115,  -43.1020601, 20.1371436,
                                     -4.28725029, 11.9100935, -38.9249781, 24.3142257, -0.11016824, 16.0871756};
  const std::vector<double> middle = {-35.2497746, 27.5566227, 3.13222873,  19.762379,   -31.4227919, 36.5432225,
                                      12.1188285,  23.5893617, -24.1568262, -1.71347941, -26.1378733, 30.8553274};
  const std::vector<double> last = {-20.0871756, -3.88983176, -28.3142257, 34.9249781, -15.9100935, 0.287250288,
                                    -24.1371436, 39.1020601,  -11.7330115, 4.46433234, -19.9600616, 43.2791422};
  std::vector<double> expected;
  for (const auto* slice : {&first, &first, &middle, &last, &last})
    expected.insert(expected.end(), slice->begin(), slice->end());
  expect_image(resize_spline(small_image(), {5, 3, 4}, 0), {5, 3, 4}, expected);
}

TEST(SplineResize, KeepsConstantImagesSingleVoxelsAndSizes) {
  Tensor one(DType::kF32, {1, 1, 1});
  one.as<float>()[0] = 3;
  expect_image(resize_spline(one, {2, 1, 3}, std::nullopt), {2, 1, 3}, {3, 3, 3, 3, 3, 3});
  const Tensor same = resize_spline(small_image(), {3, 4, 5}, std::nullopt);
  for (std::int64_t i = 0; i < same.count(); ++i) EXPECT_EQ(same.as<float>()[i], small_image().as<float>()[i]);
}

TEST(SplineResize, AnAxisOfMoreLinesThanAreFilteredSideBySideIsWhole) {
  Tensor ramp(DType::kF32, {2, 30, 37});  // linear along the last axis: the spline keeps it away from the border
  for (std::int64_t i = 0; i < ramp.count(); ++i) ramp.as<float>()[i] = static_cast<float>(i % 37);
  const Tensor fine = resize_spline(ramp, {2, 30, 74}, std::nullopt);
  for (std::int64_t i = 0; i < fine.count(); ++i)
    if (const std::int64_t x = i % 74; x >= 20 && x < 54) {
      EXPECT_NEAR(fine.as<float>()[i], static_cast<double>(x) / 2 - 0.25, 1e-4) << i;
    }
}

TEST(LabelResize, EqualsTheMasksOfScikitImage) {
  EXPECT_THAT(values_of(resize_labels(small_labels(), {4, 6, 3}, std::nullopt, LabelRule::kHalf)),
              testing::ElementsAreArray({0, 0, 2, 0, 3, 0, 3, 3, 3, 2, 0, 0, 0, 1, 0, 0, 1, 3, 0, 1, 2, 0, 0, 0,
                                         1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 3, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 2, 0,
                                         0, 2, 1, 0, 3, 1, 0, 0, 0, 0, 3, 0, 1, 3, 3, 1, 2, 0, 0, 2, 1, 0, 0, 1}));
}

TEST(LabelResize, OfTwoMasksThatReachHalfTheHigherLabelWins) {
  EXPECT_THAT(values_of(resize_labels(small_labels(), {3, 2, 5}, std::nullopt, LabelRule::kHalf)),
              testing::ElementsAreArray(
                  {3, 1, 3, 1, 3, 2, 1, 1, 2, 3, 1, 3, 1, 3, 2, 3, 1, 3, 3, 1, 1, 2, 3, 1, 3, 1, 3, 2, 1, 1}));
}

TEST(LabelResize, LargestMaskLeavesNoHoleBetweenThreeLabels) {
  Tensor labels(DType::kI32, {1, 2, 2});
  const std::int32_t corner[] = {1, 2, 3, 3};
  std::copy(std::begin(corner), std::end(corner), labels.as<std::int32_t>());
  const auto half = values_of(resize_labels(labels, {1, 1, 1}, std::nullopt, LabelRule::kHalf));
  EXPECT_THAT(half, testing::ElementsAre(3));
  labels.as<std::int32_t>()[3] = 4;
  EXPECT_THAT(values_of(resize_labels(labels, {1, 1, 1}, std::nullopt, LabelRule::kHalf)), testing::ElementsAre(0));
  EXPECT_THAT(values_of(resize_labels(labels, {1, 1, 1}, std::nullopt, LabelRule::kLargest)), testing::ElementsAre(1));
}

}  // namespace
}  // namespace voxshard
