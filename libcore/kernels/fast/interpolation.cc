// Interpolation by runs of points along W: where the points of a run lie is computed first, then their eight voxels are
// gathered and weighed. Labels are weighed only where the eight differ.
#include "libcore/kernels/interpolation.h"

#include <limits>

namespace voxshard::fast {
namespace {

using namespace voxshard::interpolation;

constexpr std::int64_t kPoints = 64;

/// Points of a row: the index of the lowest of the eight voxels around each, and how far it lies from that voxel.
struct Run {
  alignas(64) std::int32_t lowest[kPoints];
  alignas(64) float fraction[3][kPoints];
};

/// Places `count` points of a row.
///   first  (D, H, W) of the first of them
void place(const Box& held, const SpatialMap& map, const std::array<std::int64_t, 3>& first, std::int64_t count,
           Run& run) {
  std::fill_n(run.lowest, count, 0);
  for (std::size_t a = 0; a < 3; ++a) {
    const Vector3& row = map.matrix[a];
    const double begun = map.shift[a] + row[0] * static_cast<double>(first[0]) + row[1] * static_cast<double>(first[1]),
                 step = row[2], held_from = static_cast<double>(held.begin[static_cast<int>(a)]);
    const auto w = static_cast<std::int32_t>(first[2]),
               extent = static_cast<std::int32_t>(held.extent[static_cast<int>(a)]);
    float* const fraction = run.fraction[a];
    for (std::int32_t i = 0; i < count; ++i) {
      const double at = begun + step * static_cast<double>(w + i), low = std::floor(at);
      fraction[i] = static_cast<float>(at - low);
      run.lowest[i] = run.lowest[i] * extent + static_cast<std::int32_t>(low - held_from);
    }
  }
}

/// True where indices of voxels and of points fit into 32 bits.
bool are_short(const Box& held, const Box& box) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return held.count() <= kMost && box.begin[2] >= -kMost && box.end(2) <= kMost;
}

/// Calls body(run, count, index of its first point in `box`) for the runs of a box.
template <class Body>
void each_run(const Box& held, const SpatialMap& map, const Box& box, const Body& body) {
  Run run;
  std::int64_t point = 0;
  for (std::int64_t d = box.begin[0]; d < box.end(0); ++d)
    for (std::int64_t h = box.begin[1]; h < box.end(1); ++h)
      for (std::int64_t w = box.begin[2]; w < box.end(2); w += kPoints) {
        const std::int64_t count = std::min(kPoints, box.end(2) - w);
        place(held, map, {d, h, w}, count, run);
        body(run, count, point);
        point += count;
      }
}

void linear(const HeldVoxels<float>& from, const SpatialMap& map, const Box& box, float* to) {
  if (box.empty()) return;
  if (!are_short(from.box, box)) return reference::interpolation.linear(from, map, box, to);
  std::array<const float*, 8> corners{};
  const std::array<std::int64_t, 8> offsets = corner_offsets(from.box);
  for (std::size_t i = 0; i < 8; ++i) corners[i] = from.values + offsets[i];
  each_run(from.box, map, box, [&](const Run& run, std::int64_t count, std::int64_t point) {
    float* const values = to + point;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int32_t at = run.lowest[i];
      const float w = run.fraction[2][i], h = run.fraction[1][i];
      const float low = between(between(corners[0][at], corners[1][at], w), between(corners[2][at], corners[3][at], w),
                                h),
                  high = between(between(corners[4][at], corners[5][at], w), between(corners[6][at], corners[7][at], w),
                                 h);
      values[i] = between(low, high, run.fraction[0][i]);
    }
  });
}

void heaviest_label(const HeldVoxels<std::int32_t>& from, const SpatialMap& map, const Box& box, std::int32_t* to) {
  if (box.empty()) return;
  if (!are_short(from.box, box)) return reference::interpolation.heaviest(from, map, box, to);
  const std::array<std::int64_t, 8> offsets = corner_offsets(from.box);
  std::array<const std::int32_t*, 8> corners{};
  for (std::size_t i = 0; i < 8; ++i) corners[i] = from.values + offsets[i];
  alignas(64) std::int32_t different[kPoints];
  each_run(from.box, map, box, [&](const Run& run, std::int64_t count, std::int64_t point) {
    std::int32_t* const labels = to + point;
    std::int32_t any = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int32_t at = run.lowest[i], lowest = corners[0][at];
      labels[i] = lowest;
      different[i] = (corners[1][at] ^ lowest) | (corners[2][at] ^ lowest) | (corners[3][at] ^ lowest) |
                     (corners[4][at] ^ lowest) | (corners[5][at] ^ lowest) | (corners[6][at] ^ lowest) |
                     (corners[7][at] ^ lowest);
      any |= different[i];
    }
    if (any == 0) return;
    for (std::int64_t i = 0; i < count; ++i) {
      if (different[i] == 0) continue;
      std::array<std::int32_t, 8> around{};
      for (std::size_t corner = 0; corner < 8; ++corner) around[corner] = corners[corner][run.lowest[i]];
      labels[i] = heaviest(around, {run.fraction[0][i], run.fraction[1][i], run.fraction[2][i]});
    }
  });
}

}  // namespace

const InterpolationKernels interpolation{.linear = linear, .heaviest = heaviest_label};

}  // namespace voxshard::fast
