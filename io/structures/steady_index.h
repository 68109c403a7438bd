// Voxel indices that are computed from places in mm, without the noise of their last bits.
//
//   steady_index(11.999999999998)      // 12
#pragma once

#include <cmath>

namespace voxshard {

/// Returns the index rounded to 2^-20 of a voxel, so that what lies halfway, or on a centre, is decided alike
/// everywhere.
inline double steady_index(double index) {
  constexpr double kPartsOfVoxel = 1 << 20;
  return std::round(index * kPartsOfVoxel) / kPartsOfVoxel;
}

}  // namespace voxshard
