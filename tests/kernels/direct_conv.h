// The convolutions that every processor computes by direct sums of its library (f32 weight gradients of our own),
// whatever the table of conv_table.h would choose: tests sweep them, and benchmarks compare other kernels with them.
#pragma once

#include "libcore/kernels/conv_table.h"

namespace voxshard {

inline std::unique_ptr<Kernel> make_direct(KernelSet set, const ConvUse& use) {
  const ConvKernel kernel = conv_runs(ConvKernel::kLibrary, use) ? ConvKernel::kLibrary : ConvKernel::kTiled;
  return make_conv(set, set == KernelSet::kReference ? ConvKernel::kReference : kernel, use);
}

inline std::unique_ptr<Kernel> make_conv_forward(KernelSet set, const Window& window, const Shape& weights, DType dtype,
                                                 std::size_t parts = 1) {
  return make_direct(
      set, {.pass = ConvPass::kForward, .window = window, .weights = weights, .dtype = dtype, .parts = parts});
}

inline std::unique_ptr<Kernel> make_conv_input_grad(KernelSet set, const Window& window, const Shape& weights,
                                                    DType dtype, std::int64_t channel = 0, std::int64_t channels = -1) {
  return make_direct(set, {.pass = ConvPass::kInputGrad,
                           .window = window,
                           .weights = weights,
                           .dtype = dtype,
                           .channel = channel,
                           .channels = channels});
}

inline std::unique_ptr<Kernel> make_conv_weight_grad(KernelSet set, const Window& window, const Shape& weights,
                                                     DType dtype) {
  return make_direct(set, {.pass = ConvPass::kWeightGrad, .window = window, .weights = weights, .dtype = dtype});
}

}  // namespace voxshard
