// The traversal of a box: it is cut into columns (some rows by some width), in which steps of some planes march along
// D. Planes that several steps read are packed once and kept in a ring.
//
//   box 64 x 64 x 64, step {1, 16, 64}: 4 columns of 64 steps; each step packs one more plane of 18 rows.
#pragma once

#include <span>

#include "libcore/kernels/amx/routines.h"
#include "libcore/kernels/window.h"
#include "libcore/tensor/tensor.h"

namespace voxshard::amx {

/// Numbers of planes, of rows, and of voxels in a row.
struct StepSize {
  std::int64_t d, h, w;
  std::int64_t plane() const { return h * w; }
};

/// Returns steps of about `voxels` voxels for a box of these extents: whole rows where they are not long, then rows,
/// then planes; parts are even.
StepSize step_size(const StepSize& box, std::int64_t voxels);

/// The voxels from (d, h, w), of extent `size`, of sample n.
struct Step {
  std::int64_t n, d, h, w;
  StepSize size;
  bool begins_column;
};

/// Calls body for the steps of `box` (N, D, H, W, C), column by column.
template <class Body>
void for_each_step(const Box& box, const StepSize& size, Body body) {
  if (box.empty()) return;
  auto least = [](std::int64_t a, std::int64_t b) { return a < b ? a : b; };
  for (std::int64_t n = box.begin[0]; n < box.end(0); ++n)
    for (std::int64_t h = box.begin[2]; h < box.end(2); h += size.h)
      for (std::int64_t w = box.begin[3]; w < box.end(3); w += size.w)
        for (std::int64_t d = box.begin[1]; d < box.end(1); d += size.d)
          body(Step{
              .n = n,
              .d = d,
              .h = h,
              .w = w,
              .size = {least(size.d, box.end(1) - d), least(size.h, box.end(2) - h), least(size.w, box.end(3) - w)},
              .begins_column = d == box.begin[1]});
}

/// A ring of planes: plane d of a source is kept in slot d modulo slots.
struct PlaneRing {
  std::byte* data;
  std::int64_t slots, plane_bytes;
  std::byte* plane(std::int64_t d) const { return data + (d - floor_div(d, slots) * slots) * plane_bytes; }
};

/// Returns row (n, d, h) of a bf16 view (N, D, H, W, C), voxels counted from w, with `channels` channels from `channel`
/// on. A row outside the view has no voxels.
VoxelRow row_of(const TensorView& view, std::int64_t n, std::int64_t d, std::int64_t h, std::int64_t w,
                std::int64_t channel, std::int64_t channels);

/// True for stride and dilation 1; any kernel and padding.
bool applies(const Window& window);

/// Rounds up to whole lines.
inline std::int64_t aligned(std::int64_t bytes) { return ceil_div(bytes, kLineBytes) * kLineBytes; }

}  // namespace voxshard::amx
