// World and index coordinates, orientation codes and the sizes of resampled grids. A grid of 5 voxels of 1 mm cut into
// 2 mm voxels has round-half-even(2.5) = 2 of them, and its first centre moves from 0 to 0.5 * 5 / 2 - 0.5 = 0.75.
//
//   respaced(g, {2, 1, 1}).size[0]   // 2
#include "io/volume/geometry.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/error.h"

namespace voxshard {

std::array<double, 3> Geometry::world(const std::array<double, 3>& index) const {
  std::array<double, 3> point = origin;
  for (int r = 0; r < 3; ++r)
    for (int a = 0; a < 3; ++a) point[r] += direction[3 * r + a] * spacing[a] * index[a];
  return point;
}

std::array<double, 3> Geometry::index_of(const std::array<double, 3>& world_mm) const {
  std::array<double, 3> index{};
  for (int a = 0; a < 3; ++a) {
    for (int r = 0; r < 3; ++r) index[a] += direction[3 * r + a] * (world_mm[r] - origin[r]);
    index[a] /= spacing[a];
  }
  return index;
}

std::string orientation_code(const Geometry& geometry) {
  constexpr char kPlus[] = "LPS", kMinus[] = "RAI";
  // The permutation whose three cosines have the largest sum, so that no world axis is named twice.
  constexpr int kOrders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  auto cosine = [&](int row, int axis) { return geometry.direction[3 * row + axis]; };
  double best = -1;
  std::string code;
  for (const auto& order : kOrders) {
    double sum = 0;
    for (int a = 0; a < 3; ++a) sum += std::abs(cosine(order[a], a));
    if (sum <= best + 1e-9) continue;  // ties go to the first order, so that 45 degrees is stable against rounding
    best = sum;
    code.clear();
    for (int a = 0; a < 3; ++a) code += cosine(order[a], a) >= 0 ? kPlus[order[a]] : kMinus[order[a]];
  }
  return code;
}

bool same_geometry(const Geometry& a, const Geometry& b, double tolerance) {
  if (a.size != b.size) return false;
  for (int i = 0; i < 3; ++i)
    if (!(std::abs(a.origin[i] - b.origin[i]) <= tolerance && std::abs(a.spacing[i] - b.spacing[i]) <= tolerance))
      return false;
  for (int i = 0; i < 9; ++i)
    if (!(std::abs(a.direction[i] - b.direction[i]) <= tolerance)) return false;
  return true;
}

Geometry respaced(const Geometry& geometry, const std::array<double, 3>& spacing_mm) {
  Geometry fresh = geometry;
  std::array<double, 3> first{};
  for (int a = 0; a < 3; ++a) {
    if (!(spacing_mm[a] > 0) || !std::isfinite(spacing_mm[a]))
      throw Error(ErrorKind::kConfig,
                  "[resample] a target spacing must be a number above 0 mm; got " + std::to_string(spacing_mm[a]));
    const auto old_size = static_cast<double>(geometry.size[a]);
    // nearbyint rounds half to even in the default rounding mode, like Python's round.
    // 2^40 voxels along an axis is beyond every limit, and still a number that can be multiplied.
    const double size = std::clamp(std::nearbyint(geometry.spacing[a] / spacing_mm[a] * old_size), 1.0, 0x1p40);
    fresh.size[a] = static_cast<std::int64_t>(size);
    fresh.spacing[a] = geometry.spacing[a] * old_size / size;
    first[a] = 0.5 * old_size / size - 0.5;  // centre of the new first voxel: half a new voxel from the old edge
  }
  fresh.origin = geometry.world(first);
  return fresh;
}

}  // namespace voxshard
