#include "libcore/kernels/amx/steps.h"

#include <algorithm>

namespace voxshard::amx {
namespace {

/// Rows of up to kMostWidth voxels are not cut; longer ones are cut into parts that are multiples of a tile.
constexpr std::int64_t kMostWidth = 160, kCutWidth = 128;

std::int64_t even_part(std::int64_t extent, std::int64_t most) {
  const std::int64_t parts = ceil_div(extent, std::clamp<std::int64_t>(most, 1, extent));
  return ceil_div(extent, parts);
}

}  // namespace

StepSize step_size(const StepSize& box, std::int64_t voxels) {
  StepSize step{1, 1, 1};
  if (box.d <= 0 || box.h <= 0 || box.w <= 0) return step;
  step.w = box.w <= kMostWidth ? box.w : kCutWidth;
  step.h = even_part(box.h, voxels / step.w);
  step.d = even_part(box.d, voxels / (step.w * step.h));
  return step;
}

VoxelRow row_of(const TensorView& view, std::int64_t n, std::int64_t d, std::int64_t h, std::int64_t w,
                std::int64_t channel, std::int64_t channels) {
  const Box& b = view.box;
  VoxelRow row{.data = nullptr, .stride = view.strides[3], .first = 0, .past = 0, .channels = channels};
  const bool held =
      n >= b.begin[0] && n < b.end(0) && d >= b.begin[1] && d < b.end(1) && h >= b.begin[2] && h < b.end(2);
  if (!held || b.extent[3] <= 0) return row;
  row.first = b.begin[3] - w;
  row.past = b.end(3) - w;
  row.data = view.as<std::uint16_t>() + (n - b.begin[0]) * view.strides[0] + (d - b.begin[1]) * view.strides[1] +
             (h - b.begin[2]) * view.strides[2] - row.first * row.stride + channel;
  return row;
}

bool applies(const Window& window) {
  for (int a = 0; a < window.axes(); ++a)
    if (window.stride[a] != 1 || window.dilation[a] != 1) return false;
  return true;
}

}  // namespace voxshard::amx
