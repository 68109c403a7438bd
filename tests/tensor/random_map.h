// Random maps for tests: they turn, shear, scale and move; and a walk over the points of a box.
//
//   const SpatialMap map = test::random_map({kSeed, rng_stream("warp_test")}, trial, -3, 9);
#pragma once

#include "libcore/base/rng.h"
#include "libcore/tensor/spatial_map.h"

namespace voxshard::test {

inline double random_between(const RngKey& key, std::uint64_t index, double low, double high) {
  return low + (high - low) * rng_uniform(key, index);
}

/// Returns the map of a trial.
///   low, high  between which it moves, in voxels
inline SpatialMap random_map(const RngKey& key, std::uint64_t trial, double low, double high) {
  SpatialMap map;
  for (std::size_t a = 0; a < 3; ++a) {
    map.shift[a] = random_between(key, trial * 12 + a, low, high);
    for (std::size_t b = 0; b < 3; ++b) map.matrix[a][b] = random_between(key, trial * 12 + 3 + 3 * a + b, -1.3, 1.3);
  }
  return map;
}

/// Calls body(number, index (D, H, W)) for the points of a box (D H W), in its order.
template <class Body>
void each_index(const Box& box, const Body& body) {
  std::int64_t i = 0;
  for (std::int64_t d = box.begin[0]; d < box.end(0); ++d)
    for (std::int64_t h = box.begin[1]; h < box.end(1); ++h)
      for (std::int64_t w = box.begin[2]; w < box.end(2); ++w) body(i++, std::array<std::int64_t, 3>{d, h, w});
}

}  // namespace voxshard::test
