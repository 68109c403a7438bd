// Winograd kernels in tests, and their error bound.
#pragma once

#include "libcore/kernels/winograd/convolution.h"
#include "libcore/kernels/winograd/weight_gradient.h"
#include "tests/kernels/blocked_scene.h"

namespace voxshard::test {

inline void run_winograd(const winograd::ConvolutionSpec& spec, std::vector<TensorView> src, const TensorView& weights,
                         const TensorView* bias, const TensorView& dst) {
  run_blocks(winograd::Convolution(spec), std::move(src), weights, bias, dst);
}

inline void run_winograd_gradient(const winograd::WeightGradientSpec& spec, std::vector<TensorView> x,
                                  const TensorView& d_y, const TensorView& d_w) {
  const winograd::WeightGradient grad(spec);
  run_ranges(grad, grad.tasks(), std::move(x), d_y, d_w);
}

/// Returns the error bound of F(4, 3) or F(2, 3) per axis, as a multiple of 2^-24 times the largest sum |a| |b|: every
/// value of a patch passes through each output of its tile, so an output that reads little but padding has as large an
/// error as its neighbours.
inline double allowed_units(const Dims& tile) {
  double units = 16;
  for (auto outputs : tile) units *= outputs == 4 ? 3 : 1;
  return units;
}

}  // namespace voxshard::test
