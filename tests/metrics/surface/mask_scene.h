// Masks for the tests of surfaces: by coordinates, and at random from a seed.
//
//   const Mask one = voxels({3, 3, 3}, {{1, 1, 1}});
//   const Mask noise = random_mask({5, 6, 7}, 3, 11);         // about 3 of 10 voxels, the same for the same seed
#pragma once

#include <cmath>
#include <vector>

#include "libcore/metrics/surface/mask.h"

namespace voxshard {

inline Mask voxels(const GridSize& size, const std::vector<GridSize>& inside) {
  Mask mask = empty_mask(size);
  for (const GridSize& at : inside) mask.at[mask.index(at[0], at[1], at[2])] = 1;
  return mask;
}

inline Mask block(const GridSize& size, const GridSize& begin, const GridSize& extent) {
  Mask mask = empty_mask(size);
  for (std::int64_t d = begin[0]; d < begin[0] + extent[0]; ++d)
    for (std::int64_t h = begin[1]; h < begin[1] + extent[1]; ++h)
      for (std::int64_t w = begin[2]; w < begin[2] + extent[2]; ++w) mask.at[mask.index(d, h, w)] = 1;
  return mask;
}

/// A whole number below 1000 for a voxel, as surface_oracle.py counts it.
inline std::int64_t noise_at(std::int64_t index, std::int64_t seed) {
  std::int64_t number = index * 8 + seed;
  for (int round = 0; round < 3; ++round) number = (number * 1103515245 + 12345) % (std::int64_t{1} << 31);
  return (number >> 8) % 1000;
}

inline Mask random_mask(const GridSize& size, int of_ten, std::int64_t seed) {
  Mask mask = empty_mask(size);
  for (std::size_t i = 0; i < mask.at.size(); ++i)
    mask.at[i] = noise_at(static_cast<std::int64_t>(i), seed) < 100 * of_ten;
  return mask;
}

}  // namespace voxshard
