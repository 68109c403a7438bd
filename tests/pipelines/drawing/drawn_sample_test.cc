#include "pipelines/drawing/drawn_sample.h"

#include <gtest/gtest.h>

namespace voxshard {
namespace {

/// Returns a sample of 4 x 6 x 8 whose voxels have the value of their z.
DrawnSample stairs() {
  Tensor voxels(DType::kF32, {4, 6, 8});
  for (std::int64_t i = 0; i < voxels.count(); ++i) voxels.as<float>()[i] = static_cast<float>(i / 48);
  return {"stairs", voxels};
}

std::uint8_t red(const Tensor& view, std::int64_t row, std::int64_t column) {
  return view.as<std::uint8_t>()[(row * view.shape()[1] + column) * 3];
}

TEST(DrawnSample, APlaneHasTheVoxelsOfItsLevel) {
  const DrawnSample sample = stairs();
  EXPECT_EQ(sample.extents(), (Dims{4, 6, 8}));
  EXPECT_EQ(sample.view({0, 2}, {4, 6, 8}, {4, 6, 8}).shape(), (Shape{6, 8, 3}));
  EXPECT_EQ(sample.view({1, 0}, {4, 6, 8}, {4, 6, 8}).shape(), (Shape{4, 8, 3}));
  EXPECT_EQ(sample.view({2, 0}, {4, 6, 8}, {2, 3, 4}).shape(), (Shape{2, 3, 3}));
  EXPECT_EQ(red(sample.view({0, 0}, {4, 6, 8}, {4, 6, 8}), 3, 3), 0);
  EXPECT_EQ(red(sample.view({0, 3}, {4, 6, 8}, {4, 6, 8}), 3, 3), 255);
  EXPECT_EQ(red(sample.view({0, 1}, {4, 6, 8}, {2, 3, 4}), 0, 0), 255) << "plane 1 of 2 is at z = 3 of 4";
  const Tensor coronal = sample.view({1, 0}, {4, 6, 8}, {4, 6, 8});
  EXPECT_EQ(red(coronal, 1, 0), 85);
  EXPECT_EQ(red(coronal, 2, 7), 170);
}

TEST(DrawnSample, WhatIsPaddedIsBlackAndWhatIsScaledFills) {
  const DrawnSample sample = stairs();
  const Tensor padded = sample.view({1, 0}, {8, 8, 8}, {8, 8, 8});
  EXPECT_EQ(red(padded, 3, 3), 255);
  EXPECT_EQ(red(padded, 4, 3), 0);
  EXPECT_EQ(red(sample.view({0, 5}, {8, 8, 8}, {8, 8, 8}), 0, 0), 0) << "a plane behind the sample";
  EXPECT_EQ(red(sample.view({1, 0}, sample.extents(), {8, 12, 16}), 7, 15), 255);
}

TEST(DrawnSample, AViewIsNoLargerThanCanBeSeen) {
  const DrawnSample sample("picture", Tensor(DType::kU8, {10, 20, 3}));
  EXPECT_EQ(sample.extents(), (Dims{10, 20}));
  EXPECT_EQ(sample.view({}, sample.extents(), {1 << 20, 4000}).shape(), (Shape{2048, 2048, 3}));
}

TEST(DrawnSample, ThePhantomsAreVolumesAndImages) {
  EXPECT_EQ(phantom_sample(3).extents().axes(), 3);
  EXPECT_EQ(phantom_sample(2).extents().axes(), 2);
}

}  // namespace
}  // namespace voxshard
