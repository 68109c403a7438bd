// The position of a volume in the patient, in ITK's convention. World axes are LPS (x grows to the left, y to the back,
// z to the head) in millimetres; voxel (i, j, k) counts along x, y, z and lies at origin + direction * (spacing *
// index).
//
//   Geometry g{.size = {64, 64, 32}, .spacing = {1, 1, 3}};
//   orientation_code(g)    // "LPS": each letter is the direction in which that index grows
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "libcore/tensor/shape.h"

namespace voxshard {

struct Geometry {
  std::array<std::int64_t, 3> size{};                          // voxels along x, y, z
  std::array<double, 3> origin{};                              // centre of voxel (0, 0, 0), mm
  std::array<double, 3> spacing{1, 1, 1};                      // mm, > 0
  std::array<double, 9> direction{1, 0, 0, 0, 1, 0, 0, 0, 1};  // row-major; column a is the unit vector of index axis a

  /// (D, H, W) = (z, y, x).
  Shape shape() const { return {size[2], size[1], size[0]}; }
  /// World position (mm) of a continuous voxel index (x, y, z).
  std::array<double, 3> world(const std::array<double, 3>& index) const;
  /// Continuous voxel index of a world position; direction is taken as orthonormal.
  std::array<double, 3> index_of(const std::array<double, 3>& world_mm) const;
};

/// Returns three letters of L/R, P/A, S/I: the world direction in which index x, y, z grows (the nearest axis when
/// oblique).
std::string orientation_code(const Geometry& geometry);

/// Returns true for equal sizes and origin (mm), spacing (mm) and direction within `tolerance` of each other.
bool same_geometry(const Geometry& a, const Geometry& b, double tolerance = 1e-4);

/// Returns the geometry at another spacing: size = round-half-even(old spacing / new spacing * size), at least 1. Both
/// grids fill exactly the same box of the world (as skimage.resize and nnU-Net place the samples), so the resulting
/// spacing is old spacing * old size / new size: `spacing_mm` up to the rounding of the size.
Geometry respaced(const Geometry& geometry, const std::array<double, 3>& spacing_mm);

}  // namespace voxshard
