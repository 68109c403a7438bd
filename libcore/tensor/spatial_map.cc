#include "libcore/tensor/spatial_map.h"

#include <algorithm>
#include <cmath>

namespace voxshard {

SpatialMap SpatialMap::around(const Vector3& from, const Vector3& to, const Matrix3& matrix) {
  SpatialMap map{.matrix = matrix, .shift = to};
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) map.shift[a] -= matrix[a][b] * from[b];
  return map;
}

SpatialMap SpatialMap::on_lattice(const Vector3& step, const Vector3& first) const {
  SpatialMap map = *this;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) {
      map.shift[a] += matrix[a][b] * first[b];
      map.matrix[a][b] *= step[b];
    }
  return map;
}

Box SpatialMap::sources(const Box& box) const {
  if (box.empty()) return Box::none(3);
  Vector3 low, high;
  for (int corner = 0; corner < 8; ++corner) {
    std::array<std::int64_t, 3> index{};
    for (int a = 0; a < 3; ++a) index[a] = (corner >> a) & 1 ? box.end(a) - 1 : box.begin[a];
    const Vector3 place = at(index);
    for (std::size_t a = 0; a < 3; ++a) {
      low[a] = corner == 0 ? place[a] : std::min(low[a], place[a]);
      high[a] = corner == 0 ? place[a] : std::max(high[a], place[a]);
    }
  }
  Box read = Box::none(3);
  for (int a = 0; a < 3; ++a) {
    const auto i = static_cast<std::size_t>(a);
    read.set(a, static_cast<std::int64_t>(std::floor(low[i])), static_cast<std::int64_t>(std::floor(high[i])) + 2);
  }
  return read;
}

}  // namespace voxshard
