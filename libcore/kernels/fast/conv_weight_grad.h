// The two fast weight gradients: our own in f32, and the library's where bf16 is multiplied natively.
//
// make_conv_weight_grad chooses; tests run both on any machine.
#pragma once

#include <memory>

#include "libcore/kernels/kernel.h"
#include "libcore/kernels/window.h"

namespace voxshard::fast {

/// Our own loops (AVX2, f32 accumulation, f32 or bf16 views): 2-3 times the library's on AVX2.
std::unique_ptr<Kernel> make_tiled_weight_grad(const Window& window, const Shape& weights);
/// The library on slabs of about 8 planes, operands in `compute`; null when it has no fast code for it.
std::unique_ptr<Kernel> make_library_weight_grad(const Window& window, const Shape& weights, DType compute);

}  // namespace voxshard::fast
