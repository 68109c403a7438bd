// The geometry of a convolution or pooling: kernel, stride, dilation and explicit padding per spatial axis.
//
// Output o reads input o * stride - pad_lo + k * dilation for k = 0 .. kernel - 1. Example: kernel 3, stride 1, pad
// 1/1: output 5 reads inputs 4, 5, 6. Padding is explicit and may be asymmetric; SAME is resolved by the graph builder.
#pragma once

#include "libcore/tensor/shape.h"

namespace voxshard {

struct Window {
  Dims kernel;  // each field has one entry per spatial axis (2 or 3)
  Dims stride;
  Dims dilation;
  Dims pad_lo;
  Dims pad_hi;

  int axes() const { return kernel.axes(); }
  /// The extent that the kernel covers: 1 + (kernel - 1) * dilation.
  std::int64_t span(int axis) const { return 1 + (kernel[axis] - 1) * dilation[axis]; }
  std::int64_t volume() const { return element_count(kernel); }
  /// The number of outputs: (extent + lo + hi - span) / stride + 1, at least 0.
  std::int64_t output_extent(int axis, std::int64_t extent) const {
    const std::int64_t room = extent + pad_lo[axis] + pad_hi[axis] - span(axis);
    return room < 0 ? 0 : room / stride[axis] + 1;
  }
  /// Returns the same window with leading axes of kernel 1, stride 1 and no padding added until there are 3.
  Window lifted() const;
  friend bool operator==(const Window&, const Window&) = default;
};

inline Window Window::lifted() const {
  Window w;
  for (int a = axes(); a < 3; ++a) {
    w.kernel.push_back(1);
    w.stride.push_back(1);
    w.dilation.push_back(1);
    w.pad_lo.push_back(0);
    w.pad_hi.push_back(0);
  }
  for (int a = 0; a < axes(); ++a) {
    w.kernel.push_back(kernel[a]);
    w.stride.push_back(stride[a]);
    w.dilation.push_back(dilation[a]);
    w.pad_lo.push_back(pad_lo[a]);
    w.pad_hi.push_back(pad_hi[a]);
  }
  return w;
}

}  // namespace voxshard
