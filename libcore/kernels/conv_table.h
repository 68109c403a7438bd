// The one place that chooses the kernel of a convolution: a table of kernels with the uses that each computes, searched
// from the first row on by global shape, type and processor, never by a block, so that every cut of a model uses the
// same kernel.
//
//   ConvKernel chosen = choose_conv({.pass = ConvPass::kForward, .window = w, .weights = shape, .over = y, .dtype =
//   type}); std::unique_ptr<Kernel> kernel = make_conv(KernelSet::kFast, chosen, use);
//
// A new kernel is a name in conv_kernel.h and a row per pass in convolution/conv_table.cc. Its Kernel (kernel.h) states
// the input it packs, the packed size, the number of packing tasks and the scratch of a block.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "libcore/kernels/conv_kernel.h"
#include "libcore/kernels/kernel.h"
#include "libcore/kernels/window.h"

namespace voxshard {

enum class ConvPass : std::uint8_t { kForward, kInputGrad, kWeightGrad };

/// One use of a convolution; all fields are global.
struct ConvUse {
  ConvPass pass = ConvPass::kForward;
  Window window;
  Shape weights;                                 // (K..., Ci, Co) of w, whole
  Shape over = {};                               // the tensor that blocks are boxes of: y, d_x or d_y; empty: unknown
  DType dtype = DType::kF32;                     // of the activations
  std::size_t parts = 1;                         // forward: number of x side by side in Ci
  std::vector<std::int64_t> part_channels = {};  // of each x, where there are several; empty: unknown
  std::int64_t channel = 0;                      // input gradient: the channels of Ci that it computes
  std::int64_t channels = -1;                    // -1: all
  std::int64_t slices = 1;  // equal slices of the channels computed (Co for d_w), each a kernel of its own
};

struct ConvRow {
  ConvKernel kernel = ConvKernel::kReference;
  ConvPass pass = ConvPass::kForward;
  /// True when it computes this use on this processor. May build library primitives.
  bool (*runs)(const ConvUse& use) = nullptr;
  /// True when it is the preferred kernel, if it runs and no earlier row was chosen. Null: always.
  bool (*pays)(const ConvUse& use) = nullptr;
  /// True when results are sums of the products themselves, which Convolution::kExact requires.
  bool direct = true;
  /// The grain of blocks, per axis of `over` (OpDef::grain). Null: none.
  Dims (*grain)(const ConvUse& use) = nullptr;
  /// The factor by which its rounding may exceed that of adding the products directly (product_allowance). Null: 1.
  double (*growth)(const ConvUse& use) = nullptr;
  std::unique_ptr<Kernel> (*make)(const ConvUse& use) = nullptr;
};

/// All rows, the preferred first; every pass ends with the reference, which runs everything.
std::span<const ConvRow> conv_rows();

/// True when a row computes small cases like the reference, for each type and code path that it runs, within the
/// allowance for rounding. A kernel whose instruction set behaves differently on this processor must not be used.
bool conv_agrees(const ConvRow& row);
/// Returns conv_agrees() for a row of the table, computed once per process.
bool conv_is_trusted(const ConvRow& row);

/// Returns the kernel of the first row that runs, pays, is allowed by `from` and is trusted.
ConvKernel choose_conv(const ConvUse& use, Convolution from = Convolution::kFast);

/// Returns the number of channel slices that become tasks with that kernel: more than one where all weights, as it
/// packs them, take more bytes than all activations, so that no weight is read twice.
///   example: 512 -> 256, 3x3x3, at 8^3, direct: 4
std::int64_t conv_slices(ConvKernel kernel, const ConvUse& use);

/// True when that kernel computes this use on this processor.
bool conv_runs(ConvKernel kernel, const ConvUse& use);

/// Returns the grain of blocks with that kernel; empty: none.
Dims conv_grain(ConvKernel kernel, const ConvUse& use);

/// Returns ConvRow::growth of that kernel.
double conv_growth(ConvKernel kernel, const ConvUse& use);

/// Makes a kernel with inputs {x..., w[, bias]} -> y, {d_y, w[, bias]} -> d_x, {x, d_y} -> d_w (f32); each result
/// element is the same for any block it is computed in. With slices a block may be some of them (a box of their
/// channels; for a weight gradient channels of d_y) or all. Errors: kConfig when `kernel` does not compute this use
/// here (it was chosen on another processor).
std::unique_ptr<Kernel> make_conv(KernelSet set, ConvKernel kernel, const ConvUse& use);

}  // namespace voxshard
