// Element by element: activation, add, scale, type conversion; and sums over everything but channels. Any rank.
#pragma once

#include "libcore/tensor/tensor.h"

#define VOXSHARD_POINTWISE_KERNELS                                                                                    \
  /* y = x > 0 ? x : slope * x (slope 0: ReLU). */                                                                    \
  void leaky_relu(const TensorView& x, const TensorView& y, double slope);                                            \
  /* d_x = x > 0 ? d_y : slope * d_y. */                                                                              \
  void leaky_relu_grad(const TensorView& x, const TensorView& d_y, const TensorView& d_x, double slope);              \
  void add(const TensorView& a, const TensorView& b, const TensorView& y);                                            \
  void scale(const TensorView& x, const TensorView& y, double factor);                                                \
  /* dst = src for dst.box; types may differ; boxes are global coordinates. */                                        \
  void convert(const TensorView& src, const TensorView& dst);                                                         \
  /* sums (C) = sum of x over all axes but the last; accumulates in f64. */                                           \
  void channel_sum(const TensorView& x, const TensorView& sums);                                                      \
  /* y (1) = sum of all elements; accumulates in f64. */                                                              \
  void sum_all(const TensorView& x, const TensorView& y);

namespace voxshard::reference {
VOXSHARD_POINTWISE_KERNELS
}
namespace voxshard::fast {
VOXSHARD_POINTWISE_KERNELS
}
#undef VOXSHARD_POINTWISE_KERNELS
