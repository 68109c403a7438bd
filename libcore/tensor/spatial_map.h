// An affine map from the voxels of one volume, a sample, to those of another one, and the voxels that linear
// interpolation at mapped places reads.
//
//   SpatialMap map = SpatialMap::around(sample_centre, volume_centre, matrix);
//   Box read = map.sources(box);
#pragma once

#include <array>
#include <cstdint>

#include "libcore/tensor/box.h"

namespace voxshard {

using Vector3 = std::array<double, 3>;  // D H W
using Matrix3 = std::array<Vector3, 3>;

struct SpatialMap {
  Matrix3 matrix{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  Vector3 shift{};

  /// Returns the map that takes `from` to `to` and differences of indices by `matrix`.
  static SpatialMap around(const Vector3& from, const Vector3& to, const Matrix3& matrix);
  /// Returns the place of an index (D, H, W). Its rounding does not decrease as an index grows or shrinks, so that the
  /// extremes over a box lie in its corners.
  Vector3 at(const std::array<std::int64_t, 3>& index) const {
    Vector3 place{};
    for (std::size_t a = 0; a < 3; ++a)
      place[a] = shift[a] + matrix[a][0] * static_cast<double>(index[0]) +
                 matrix[a][1] * static_cast<double>(index[1]) + matrix[a][2] * static_cast<double>(index[2]);
    return place;
  }
  /// Returns the map of a lattice whose point k lies at index k * step + first of this map, axis by axis.
  SpatialMap on_lattice(const Vector3& step, const Vector3& first) const;
  /// Returns the voxels that linear interpolation at the points of `box` (D H W) reads.
  Box sources(const Box& box) const;
};

}  // namespace voxshard
