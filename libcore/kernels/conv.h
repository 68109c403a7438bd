// Convolution, its input gradient (= transposed convolution) and its weight gradient, 5-D channels last.
//
//   x    (N, D, H, W, Ci)     w    (KD, KH, KW, Ci, Co)     y, d_y  (N, Do, Ho, Wo, Co)
//
// Views carry global boxes. Positions outside the box of x (or of d_y in the input gradient) read as zero; so a caller
// with margins passes a box that covers everything read, and a caller without gets zero padding.
#pragma once

#include <memory>
#include <string>

#include "libcore/kernels/kernel.h"
#include "libcore/kernels/window.h"

namespace voxshard::reference {

/// y[n,o,co] = bias[co] + sum_{k,ci} x[n, o*stride - pad_lo + k*dilation, ci] * w[k,ci,co] for o in y.box.
/// `bias` may be null. Sums in double, any dtypes. Several x lie side by side in ci.
void conv_forward(const TensorView& x, const TensorView& w, const TensorView* bias, const TensorView& y,
                  const Window& window);
void conv_forward(std::span<const TensorView> x, const TensorView& w, const TensorView* bias, const TensorView& y,
                  const Window& window);
/// d_x[n,i,ci] = bias[ci] + sum over (k, o) with o*stride - pad_lo + k*dilation = i of d_y[n,o,co] * w[k,ci,co].
void conv_input_grad(const TensorView& d_y, const TensorView& w, const TensorView* bias, const TensorView& d_x,
                     const Window& window);
/// d_w[k,ci,co] = sum over n and o in d_y.box of x[n, o*stride - pad_lo + k*dilation, ci] * d_y[n,o,co]; overwrites
/// d_w.
void conv_weight_grad(const TensorView& x, const TensorView& d_y, const TensorView& d_w, const Window& window);

}  // namespace voxshard::reference

namespace voxshard {

/// True when oneDNN multiplies bf16 natively: on this processor, within VOXSHARD_ISA (base/cpu.h) and
/// ONEDNN_MAX_CPU_ISA.
bool cpu_has_native_bf16();
/// The library behind the fast convolutions, "oneDNN 2.7.2".
std::string kernel_library_version();
/// The newest instruction set that oneDNN uses on this processor, "avx2". VOXSHARD_ISA (base/cpu.h) lowers it;
/// ONEDNN_MAX_CPU_ISA, which concerns oneDNN alone, may lower it further. Another set may add in another order.
std::string kernel_instruction_set();

}  // namespace voxshard
