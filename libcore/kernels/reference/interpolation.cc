// Interpolation point by point, in the order of the box.
#include "libcore/kernels/interpolation.h"

namespace voxshard::reference {
namespace {

using namespace voxshard::interpolation;

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

void linear(const HeldVoxels<float>& from, const SpatialMap& map, const Box& box, float* to) {
  const std::array<std::int64_t, 8> offsets = corner_offsets(from.box);
  each_point(from.box, map, box, [&](std::int64_t point, const Cell& cell) {
    const float* v = from.values + cell.lowest;
    std::array<float, 4> on_w{};  // by corner of D and H
    for (std::size_t i = 0; i < 4; ++i) on_w[i] = between(v[offsets[2 * i]], v[offsets[2 * i + 1]], cell.fraction[2]);
    to[point] = between(between(on_w[0], on_w[1], cell.fraction[1]), between(on_w[2], on_w[3], cell.fraction[1]),
                        cell.fraction[0]);
  });
}

void heaviest_label(const HeldVoxels<std::int32_t>& from, const SpatialMap& map, const Box& box, std::int32_t* to) {
  const std::array<std::int64_t, 8> offsets = corner_offsets(from.box);
  each_point(from.box, map, box, [&](std::int64_t point, const Cell& cell) {
    std::array<std::int32_t, 8> labels{};
    for (std::size_t i = 0; i < 8; ++i) labels[i] = from.values[cell.lowest + offsets[i]];
    to[point] = heaviest(labels, cell.fraction);
  });
}

}  // namespace

const InterpolationKernels interpolation{.linear = linear, .heaviest = heaviest_label};

}  // namespace voxshard::reference
