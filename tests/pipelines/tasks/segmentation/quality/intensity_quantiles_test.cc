// Quantiles of images and their distances: what is far, and what is not.
#include "pipelines/tasks/segmentation/quality/intensity_quantiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "libcore/base/rng.h"

namespace voxshard {
namespace {

/// An image of uniform values from 0 to 100, of which the first planes are air, -10.
Tensor uniform_image(std::uint64_t seed, std::int64_t planes_of_air, double shift = 0) {
  Tensor image(DType::kF32, {20, 30, 40});
  for (std::int64_t i = 0; i < image.count(); ++i)
    image.as<float>()[i] =
        i / (30 * 40) < planes_of_air
            ? -10
            : static_cast<float>(100 * rng_uniform({.seed = seed, .stream = 1}, static_cast<std::uint64_t>(i)) + shift);
  return image;
}

TEST(IntensityQuantiles, AreThoseOfTheDistribution) {
  const Quantiles found = intensity_quantiles(uniform_image(1, 0));
  ASSERT_EQ(found.size(), kQuantiles);
  for (std::size_t q = 0; q < kQuantiles; ++q)
    EXPECT_NEAR(found[q], 100 * (static_cast<double>(q) + 0.5) / kQuantiles, 2);
}

TEST(IntensityQuantiles, TheDistanceIsTheShift) {
  const Quantiles found = intensity_quantiles(uniform_image(1, 0));
  EXPECT_NEAR(quantile_distance(found, intensity_quantiles(uniform_image(1, 0, 25))), 25, 1e-3);
  EXPECT_LT(quantile_distance(found, intensity_quantiles(uniform_image(2, 0))), 2) << "other voxels, like values";
  EXPECT_EQ(quantile_distance(found, found), 0);
}

TEST(IntensityQuantiles, HowMuchAirAnImageShowsDoesNotMatter) {
  const Quantiles found = intensity_quantiles(uniform_image(1, 2));
  EXPECT_LT(quantile_distance(found, intensity_quantiles(uniform_image(2, 15))), 3);
  EXPECT_GT(found.front(), 0);
}

TEST(IntensityQuantiles, AnImageOfItsEndsAloneIsInfinitelyFar) {
  Tensor image(DType::kF32, {4, 4, 4});
  for (std::int64_t i = 0; i < image.count(); ++i) image.as<float>()[i] = i % 2 == 0 ? -1 : 1;
  const Quantiles none = intensity_quantiles(image);
  EXPECT_TRUE(none.empty());
  EXPECT_TRUE(std::isinf(quantile_distance(none, intensity_quantiles(uniform_image(1, 0)))));
}

TEST(IntensityQuantiles, VoxelsThatAreNotFiniteArePassedOver) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  Tensor image = uniform_image(1, 0);
  for (std::int64_t i = 0; i < image.count(); ++i)
    if (i % 3 != 0) image.as<float>()[i] = i % 9 == 1 ? kInfinity : i % 9 == 2 ? -kInfinity : kNan;
  const Quantiles found = intensity_quantiles(image);
  ASSERT_EQ(found.size(), kQuantiles);
  EXPECT_LT(quantile_distance(found, intensity_quantiles(uniform_image(1, 0))), 2);
  for (std::int64_t i = 0; i < image.count(); ++i) image.as<float>()[i] = kNan;
  EXPECT_TRUE(intensity_quantiles(image).empty());
}

TEST(IntensityQuantiles, AsManyPlanesAsThereAreAreRead) {
  for (const std::int64_t depth : {1, 15, 16, 17, 400}) {
    std::vector<std::int64_t> read;
    const std::vector<float> plane = {1, 2, 3, 4};
    intensity_quantiles({depth, 2, 2}, [&](std::int64_t z) {
      EXPECT_TRUE(z >= 0 && z < depth && (read.empty() || z > read.back()));
      read.push_back(z);
      return plane.data();
    });
    EXPECT_EQ(std::ssize(read), std::min<std::int64_t>(depth, 16));
  }
}

}  // namespace
}  // namespace voxshard
