// Runs a weight gradient of kernels/winograd or kernels/amx one range of channels after another, so that the workspace
// stays within its bound.
#pragma once

#include <algorithm>

#include "libcore/kernels/convolution/conv_slabs.h"

namespace voxshard::fast {

inline constexpr const char* kAmxCode = "amx:bf16";

template <class Gradient>
std::int64_t scratch_of_all(const Gradient& grad, const Box& d_y) {
  std::int64_t most = 0;
  for (const auto& range : grad.tasks()) most = std::max(most, grad.workspace_bytes(range, d_y));
  return most;
}
template <class Gradient>
void run_all(const Gradient& grad, const TensorView& x, const TensorView& d_y, const TensorView& d_w,
             std::byte* workspace) {
  for (const auto& range : grad.tasks())
    grad.run({.x = {&x, 1}, .d_y = d_y, .d_w = d_w, .range = range, .workspace = workspace});
}

inline TensorView dense_gradient(const KernelCall& call, const Shape& weights) {
  ensure(call.output.is_dense() && call.output.dtype == DType::kF32, "a weight gradient is dense f32");
  return dense_view(call.output.data, DType::kF32, Box::whole(weights));
}

}  // namespace voxshard::fast
