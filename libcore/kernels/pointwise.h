// Element-wise kernels: activation, add, scale, type conversion; and sums over everything but channels. Any number of
// axes.
#pragma once

#include "libcore/base/rng.h"
#include "libcore/kernels/kernel.h"

namespace voxshard {

/// The elements of a tensor that dropout keeps: a function of their global position, the same however the tensor is
/// cut.
struct DropoutMask {
  RngKey key;
  double rate = 0;  // 0 to below 1
  Shape shape;      // of the whole tensor
  /// True when the element at row-major index `index` of the whole tensor stays.
  bool keeps(std::int64_t index) const { return rng_uniform(key, static_cast<std::uint64_t>(index)) >= rate; }
};

struct PointwiseKernels {
  /// y = x > 0 ? x : slope * x (slope 0: ReLU).
  void (*leaky_relu)(const TensorView& x, const TensorView& y, double slope);
  /// d_x = x > 0 ? d_y : slope * d_y.
  void (*leaky_relu_grad)(const TensorView& x, const TensorView& d_y, const TensorView& d_x, double slope);
  /// y = mask keeps it ? x / (1 - rate) : 0, for y.box; also computes its own gradient.
  void (*dropout)(const TensorView& x, const TensorView& y, const DropoutMask& mask);
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

namespace reference {
extern const PointwiseKernels pointwise;
}
namespace fast {
extern const PointwiseKernels pointwise;
}

inline const PointwiseKernels& pointwise_kernels(KernelSet set) {
  return set == KernelSet::kFast ? fast::pointwise : reference::pointwise;
}

}  // namespace voxshard
