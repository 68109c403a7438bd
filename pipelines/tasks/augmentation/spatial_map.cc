#include "pipelines/tasks/augmentation/spatial_map.h"

#include <algorithm>
#include <cmath>

namespace voxshard {
namespace {

/// The eight voxels around a point: the index of the lowest, and how far the point lies from it on each axis.
struct Cell {
  std::int64_t lowest = 0;
  std::array<float, 3> fraction{};
};

/// Calls body(index of the point in `box`, cell in `held`) for each point of the box.
template <class Body>
void each_point(const Box& held, const SpatialMap& map, const Box& box, const Body& body) {
  std::int64_t point = 0;
  for (std::int64_t d = box.begin[0]; d < box.end(0); ++d)
    for (std::int64_t h = box.begin[1]; h < box.end(1); ++h)
      for (std::int64_t w = box.begin[2]; w < box.end(2); ++w, ++point) {
        const Vector3 place = map.at({d, h, w});
        Cell cell;
        for (int a = 0; a < 3; ++a) {
          const auto i = static_cast<std::size_t>(a);
          const double low = std::floor(place[i]);
          cell.fraction[i] = static_cast<float>(place[i] - low);
          cell.lowest = cell.lowest * held.extent[a] + static_cast<std::int64_t>(low) - held.begin[a];
        }
        body(point, cell);
      }
}

/// Offsets of the eight voxels of a cell from its lowest: bit 2 is D, bit 1 is H, bit 0 is W.
std::array<std::int64_t, 8> corner_offsets(const Box& held) {
  std::array<std::int64_t, 8> offsets{};
  for (std::size_t corner = 0; corner < 8; ++corner) {
    const auto bit = [corner](std::size_t b) { return static_cast<std::int64_t>((corner >> b) & 1); };
    offsets[corner] = (bit(2) * held.extent[1] + bit(1)) * held.extent[2] + bit(0);
  }
  return offsets;
}

float between(float low, float high, float fraction) { return low + (high - low) * fraction; }

/// Returns the label of the eight with the largest sum of weights.
std::int32_t heaviest(const std::array<std::int32_t, 8>& labels, const std::array<float, 3>& fraction) {
  std::array<float, 8> weights{};
  for (std::size_t corner = 0; corner < 8; ++corner) {
    float weight = 1;
    for (std::size_t a = 0; a < 3; ++a) weight *= (corner >> (2 - a)) & 1 ? fraction[a] : 1 - fraction[a];
    const auto same = static_cast<std::size_t>(std::ranges::find(labels, labels[corner]) - labels.begin());
    weights[same] += weight;  // the first voxel with a label gathers its weight
  }
  std::size_t best = 0;
  for (std::size_t corner = 1; corner < 8; ++corner)
    if (weights[corner] > weights[best] || (weights[corner] == weights[best] && labels[corner] < labels[best]))
      best = corner;
  return labels[best];
}

}  // namespace

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

template <class T>
Tensor read_padded(const MappedVolume& volume, const Box& box, T outside) {
  Tensor values(std::is_same_v<T, float> ? DType::kF32 : DType::kI32, box.extent);
  TensorView view = values.view();
  view.box = box;
  const Box inside = intersect(box, Box::whole(volume.shape()));
  if (inside != box) std::fill_n(values.as<T>(), values.count(), outside);
  if (!inside.empty()) volume.read_box(inside, view.sub(inside));
  return values;
}
template Tensor read_padded(const MappedVolume& volume, const Box& box, float outside);
template Tensor read_padded(const MappedVolume& volume, const Box& box, std::int32_t outside);

Tensor interpolate(const Tensor& values, const Box& held, const SpatialMap& map, const Box& box) {
  ensure(held.contains(map.sources(box)), "interpolation reads what is held");
  Tensor result(DType::kF32, box.extent);
  const std::array<std::int64_t, 8> offsets = corner_offsets(held);
  const float* from = values.as<float>();
  float* to = result.as<float>();
  each_point(held, map, box, [&](std::int64_t point, const Cell& cell) {
    const float* v = from + cell.lowest;
    std::array<float, 4> on_w{};  // by corner of D and H
    for (std::size_t i = 0; i < 4; ++i) on_w[i] = between(v[offsets[2 * i]], v[offsets[2 * i + 1]], cell.fraction[2]);
    to[point] = between(between(on_w[0], on_w[1], cell.fraction[1]), between(on_w[2], on_w[3], cell.fraction[1]),
                        cell.fraction[0]);
  });
  return result;
}

Tensor warp_image(const MappedVolume& volume, const SpatialMap& map, const Box& box, float outside) {
  const Box held = map.sources(box);
  return interpolate(read_padded(volume, held, outside), held, map, box);
}

Tensor warp_labels(const MappedVolume& volume, const SpatialMap& map, const Box& box, std::int32_t outside) {
  const Box held = map.sources(box);
  const Tensor values = read_padded(volume, held, outside);
  Tensor result(DType::kI32, box.extent);
  const std::array<std::int64_t, 8> offsets = corner_offsets(held);
  const std::int32_t* from = values.as<std::int32_t>();
  std::int32_t* to = result.as<std::int32_t>();
  each_point(held, map, box, [&](std::int64_t point, const Cell& cell) {
    std::array<std::int32_t, 8> labels{};
    for (std::size_t i = 0; i < 8; ++i) labels[i] = from[cell.lowest + offsets[i]];
    const bool alike = std::ranges::all_of(labels, [&](std::int32_t label) { return label == labels[0]; });
    to[point] = alike ? labels[0] : heaviest(labels, cell.fraction);
  });
  return result;
}

}  // namespace voxshard
