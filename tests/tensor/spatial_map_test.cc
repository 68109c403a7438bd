// Maps from a sample to its volume: lattices of their points, and the voxels that interpolation reads.
#include "libcore/tensor/spatial_map.h"

#include <gtest/gtest.h>

#include "tests/tensor/random_map.h"

namespace voxshard {
namespace {

constexpr std::uint64_t kMapSeed = 17;

SpatialMap random_map(std::uint64_t trial) {
  return test::random_map({kMapSeed, rng_stream("spatial_map_test")}, trial, -3, 9);
}

const Box kPoints{{-2, 1, 3}, {5, 4, 6}};

TEST(SpatialMap, ALatticeHasItsPointsWhereItSays) {
  const SpatialMap map = random_map(3);
  const SpatialMap lattice = map.on_lattice({2, 4, 0.5}, {1, -2, 0.25});
  // The place of point (1, 2, 3): index (3, 6, 1.75) of the map.
  const Vector3 place = lattice.at({1, 2, 3});
  for (std::size_t a = 0; a < 3; ++a)
    EXPECT_NEAR(place[a], map.shift[a] + 3 * map.matrix[a][0] + 6 * map.matrix[a][1] + 1.75 * map.matrix[a][2], 1e-13);
}

TEST(SpatialMap, TheSourcesOfABoxHoldThoseOfEachOfItsPoints) {
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    const SpatialMap map = random_map(trial);
    const Box sources = map.sources(kPoints);
    test::each_index(kPoints, [&](std::int64_t, const auto& index) {
      ASSERT_TRUE(sources.contains(map.sources({{index[0], index[1], index[2]}, {1, 1, 1}}))) << trial;
    });
  }
  EXPECT_TRUE(SpatialMap{}.sources(Box::none(3)).empty());
}

}  // namespace
}  // namespace voxshard
