// The fit of borders to edges, on a ball of bone in soft tissue with a grain that is the same for each run.
#include "pipelines/tasks/segmentation/checks/border_fit.h"

#include <gtest/gtest.h>

#include "libcore/base/rng.h"

namespace voxshard {
namespace {

constexpr std::int64_t kSide = 32;

/// True inside of a ball around the centre, moved by whole voxels along x, y, z.
bool in_ball(std::int64_t x, std::int64_t y, std::int64_t z, std::array<int, 3> moved) {
  const double dx = static_cast<double>(x - kSide / 2 - moved[0]), dy = static_cast<double>(y - kSide / 2 - moved[1]),
               dz = static_cast<double>(z - kSide / 2 - moved[2]);
  return dx * dx + dy * dy + dz * dz < 64;
}

/// Returns a ball of 400 HU, or of class 1, with a grain of up to 100 HU.
Volume ball(DType dtype, std::array<int, 3> moved = {}, bool flat = false) {
  Volume v{Geometry{.size = {kSide, kSide, kSide}}, Tensor(dtype, {kSide, kSide, kSide})};
  std::int64_t i = 0;
  for (std::int64_t z = 0; z < kSide; ++z)
    for (std::int64_t y = 0; y < kSide; ++y)
      for (std::int64_t x = 0; x < kSide; ++x, ++i) {
        const bool inside = in_ball(x, y, z, moved);
        if (dtype == DType::kI32)
          v.voxels.as<std::int32_t>()[i] = inside ? 1 : 0;
        else
          v.voxels.as<float>()[i] =
              flat ? 40
                   : static_cast<float>((inside ? 400 : 0) +
                                        100 * rng_uniform({.seed = 1, .stream = 2}, static_cast<std::uint64_t>(i)));
      }
  return v;
}

TEST(BorderFit, IsBestInPlace) {
  const auto fit = border_fit(ball(DType::kF32), ball(DType::kI32));
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->shift, (std::array{0, 0, 0}));
  EXPECT_EQ(fit->contrast, fit->best_contrast);
  EXPECT_GT(fit->contrast, 1.5);
}

TEST(BorderFit, FindsAShiftAlongEachAxis) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const int voxels : {-3, -1, 2, 4}) {
      std::array<int, 3> moved{}, back{};
      moved[axis] = voxels, back[axis] = -voxels;
      const auto fit = border_fit(ball(DType::kF32), ball(DType::kI32, moved));
      ASSERT_TRUE(fit);
      EXPECT_EQ(fit->shift, back) << "axis " << axis;
      EXPECT_GT(fit->best_contrast, 1.1 * fit->contrast);
    }
}

TEST(BorderFit, ThePeakIsFoundInPartsOfAVoxelAlongEachAxis) {
  for (const int voxels : {-1, 0, 1, 2}) {
    const auto fit = border_fit(ball(DType::kF32), ball(DType::kI32, {0, voxels, 0}));
    ASSERT_TRUE(fit);
    ASSERT_TRUE(fit->peak[0] && fit->peak[1] && fit->peak[2]);
    EXPECT_NEAR(*fit->peak[1], -voxels, 0.25);
    EXPECT_NEAR(*fit->peak[0], 0, 0.25);
    EXPECT_NEAR(*fit->peak[2], 0, 0.25);
  }
  const auto beyond = border_fit(ball(DType::kF32), ball(DType::kI32, {4, 0, 0}));
  EXPECT_FALSE(beyond->peak[0]) << "the largest steps are at the end of the range";
}

TEST(BorderFit, MetalOutweighsNoOtherBorder) {
  Volume image = ball(DType::kF32);
  Volume metal = ball(DType::kF32);
  for (std::int64_t i = 0; i < 40; ++i)
    metal.voxels.as<float>()[i * 400] = 30000, image.voxels.as<float>()[i * 400] = 500;
  EXPECT_EQ(border_fit(metal, ball(DType::kI32))->contrast, border_fit(image, ball(DType::kI32))->contrast);
}

TEST(BorderFit, SaysNothingOfFlatImagesAndFewBorders) {
  EXPECT_FALSE(border_fit(ball(DType::kF32, {}, true), ball(DType::kI32)));
  Volume dot = ball(DType::kI32);
  std::fill_n(dot.voxels.as<std::int32_t>(), dot.voxels.count(), 0);
  dot.voxels.as<std::int32_t>()[kSide * kSide * 16 + kSide * 16 + 16] = 1;
  EXPECT_FALSE(border_fit(ball(DType::kF32), dot));
}

}  // namespace
}  // namespace voxshard
