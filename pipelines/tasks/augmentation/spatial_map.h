// An affine map from the voxels of a sample to those of its volume, and values of a volume at mapped places. Every
// voxel is computed from its own index alone, so that a sample is the same however its boxes are cut.
//
//   SpatialMap map = SpatialMap::around(sample_centre, volume_centre, matrix);
//   Tensor values = warp_image(volume, map, box, air);   // linear interpolation, `air` outside of the volume
//
// Called for samples of volumes (SampleSource) and of images (image_pieces.h) that are rotated or scaled.
#pragma once

#include <array>
#include <cstdint>

#include "io/volume/mapped_volume.h"
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

/// Returns the values of `box` (D H W, any place) of a volume in type `T`, float or std::int32_t; those outside of the
/// volume are `outside`.
template <class T>
Tensor read_padded(const MappedVolume& volume, const Box& box, T outside);

/// Returns the linear interpolation of f32 `values`, which hold the box `held`, at the mapped points of `box`.
/// Requires: `held` contains map.sources(box).
Tensor interpolate(const Tensor& values, const Box& held, const SpatialMap& map, const Box& box);
/// Returns the volume's values at the mapped points of `box`, (D, H, W) f32.
Tensor warp_image(const MappedVolume& volume, const SpatialMap& map, const Box& box, float outside);
/// Returns the labels at the mapped points, (D, H, W) i32: each the label with the largest weight among the eight
/// voxels around the point, the smallest of those with equal weights.
Tensor warp_labels(const MappedVolume& volume, const SpatialMap& map, const Box& box, std::int32_t outside);

}  // namespace voxshard
