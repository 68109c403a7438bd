// Element by element: activation, add, scale, type conversion; and sums over everything but channels. Any rank.
#pragma once

#include "libcore/kernels/kernel.h"

namespace voxshard {

struct PointwiseKernels {
  /// y = x > 0 ? x : slope * x (slope 0: ReLU).
  void (*leaky_relu)(const TensorView& x, const TensorView& y, double slope);
  /// d_x = x > 0 ? d_y : slope * d_y.
  void (*leaky_relu_grad)(const TensorView& x, const TensorView& d_y, const TensorView& d_x, double slope);
  void (*add)(const TensorView& a, const TensorView& b, const TensorView& y);
  void (*scale)(const TensorView& x, const TensorView& y, double factor);
  /// y = m * a + (1 - m) * b in double, for y.box: running averages.
  void (*lerp)(const TensorView& a, const TensorView& b, const TensorView& y, double m);
  /// dst = src for dst.box; types may differ; boxes are global coordinates.
  void (*convert)(const TensorView& src, const TensorView& dst);
  /// sums (C) = sum of x over all axes but the last; accumulates in f64.
  void (*channel_sum)(const TensorView& x, const TensorView& sums);
  /// y (1) = sum of all elements; accumulates in f64.
  void (*sum_all)(const TensorView& x, const TensorView& y);
};

namespace reference { extern const PointwiseKernels pointwise; }
namespace fast { extern const PointwiseKernels pointwise; }

inline const PointwiseKernels& pointwise_kernels(KernelSet set) { return set == KernelSet::kFast ? fast::pointwise : reference::pointwise; }

}  // namespace voxshard
