// The distance transform by hand, and against all pairs of voxels and sites.
#include "libcore/metrics/surface/distance_transform.h"

#include <gtest/gtest.h>

#include "libcore/base/error.h"
#include "tests/metrics/surface/mask_scene.h"

namespace voxshard {
namespace {

TEST(DistanceTransform, ByHandOnAGridOfThreeSpacings) {
  const Mask sites = voxels({2, 2, 4}, {{0, 0, 0}, {1, 1, 3}});
  const std::vector<double> mm2 = squared_distances(sites, {10, 3, 2});
  EXPECT_EQ(mm2, (std::vector<double>{0, 4, 16, 36, 9, 13, 25, 45, 45, 25, 13, 9, 36, 16, 4, 0}));
}

TEST(DistanceTransform, WithoutASiteAllIsInfinite) {
  for (const double mm2 : squared_distances(empty_mask({2, 3, 4}), {1, 1, 1})) EXPECT_TRUE(std::isinf(mm2));
  EXPECT_TRUE(squared_distances(empty_mask({0, 3, 4}), {1, 1, 1}).empty());
}

TEST(DistanceTransform, IsThatOfAllPairs) {
  const std::vector<GridSize> sizes = {{1, 1, 1}, {1, 1, 9}, {7, 1, 1}, {1, 6, 5}, {5, 4, 6}, {9, 8, 3}};
  std::int64_t seed = 0;
  for (const GridSize& size : sizes)
    for (const GridSpacing& spacing : {GridSpacing{1, 1, 1}, GridSpacing{5, 0.7, 0.68}, GridSpacing{0.1, 30, 2.5}})
      for (const int of_ten : {0, 1, 5, 10}) {
        const Mask sites = random_mask(size, of_ten, ++seed);
        const std::vector<double> fast = squared_distances(sites, spacing);
        const std::vector<double> slow = squared_distances_by_pairs(sites, spacing);
        ASSERT_EQ(fast.size(), slow.size());
        for (std::size_t i = 0; i < fast.size(); ++i)
          if (std::isinf(slow[i]))
            EXPECT_EQ(fast[i], slow[i]) << "seed " << seed << " voxel " << i;
          else
            EXPECT_NEAR(fast[i], slow[i], 1e-13 * slow[i]) << "seed " << seed << " voxel " << i;
      }
}

TEST(DistanceTransform, AStepIsRoundedOnceAsInSciPy) {
  // Three steps of 0.7 mm are 2.0999999999999996 mm and thus within 2.1 mm.
  const std::vector<double> mm2 = squared_distances(voxels({1, 1, 4}, {{0, 0, 0}}), {0.3, 0.3, 0.7});
  EXPECT_EQ(std::sqrt(mm2[3]), 2.0999999999999996);
}

TEST(DistanceTransform, ASpacingThatIsNoneIsRefused) {
  for (const double mm : {0.0, -1.0, std::nan(""), HUGE_VAL})
    EXPECT_THROW(squared_distances(empty_mask({1, 1, 2}), {1, mm, 1}), Error) << mm;
}

}  // namespace
}  // namespace voxshard
