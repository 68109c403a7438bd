// The one place that chooses how a convolution is computed: a table of kernels with what each computes, asked from the
// first row on by global shape, type and processor, never by a block, so that every cut of a model takes the same road.
//
//   ConvKernel chosen = choose_conv({.pass = ConvPass::kForward, .window = w, .weights = shape, .over = y, .dtype =
//   type}); std::unique_ptr<Kernel> kernel = make_conv(KernelSet::kFast, chosen, use);
//
// A new kernel is a name in conv_kernel.h and a row per pass in fast/conv_table.cc. What it packs, how large that is,
// into how many tasks packing is cut and what scratch a block takes, its Kernel says (kernel.h).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "libcore/kernels/conv_kernel.h"
#include "libcore/kernels/kernel.h"
#include "libcore/kernels/window.h"

namespace voxshard {

enum class ConvPass : std::uint8_t { kForward, kInputGrad, kWeightGrad };

/// One use of a convolution, all of it global.
struct ConvUse {
  ConvPass pass = ConvPass::kForward;
  Window window;
  Shape weights;                                 // (K..., Ci, Co) of w, whole
  Shape over = {};                               // what blocks are boxes of: y, d_x or d_y; empty: not known
  DType dtype = DType::kF32;                     // of the activations
  std::size_t parts = 1;                         // forward: x that lie side by side in Ci
  std::vector<std::int64_t> part_channels = {};  // of each, where there are several; empty: not known
  std::int64_t channel = 0;                      // input gradient: the channels of Ci that it computes
  std::int64_t channels = -1;                    // -1: all
  std::int64_t slices = 1;  // of the channels that it computes (of d_w: Co), equal; each is a kernel of its own
};

struct ConvRow {
  ConvKernel kernel = ConvKernel::kReference;
  ConvPass pass = ConvPass::kForward;
  /// Whether it computes this use on this processor. May build library primitives.
  bool (*runs)(const ConvUse& use) = nullptr;
  /// Whether it is the one to take, if it runs and no row before it was. Null: always.
  bool (*pays)(const ConvUse& use) = nullptr;
  /// Whether results are sums of the products themselves: what Convolution::kExact may take.
  bool direct = true;
  /// Of blocks, per axis of `over` (OpDef::grain). Null: none.
  Dims (*grain)(const ConvUse& use) = nullptr;
  /// By how much its rounding may exceed that of the products added directly (product_allowance). Null: not at all.
  double (*growth)(const ConvUse& use) = nullptr;
  std::unique_ptr<Kernel> (*make)(const ConvUse& use) = nullptr;
};

/// All rows, the preferred first; every pass ends with the reference, which runs everything.
std::span<const ConvRow> conv_rows();

/// Whether a row computes small cases as the reference does, each type and way through its code that it runs, within
/// what rounding may amount to: code for an instruction set that this processor runs otherwise must not be used.
bool conv_agrees(const ConvRow& row);
/// The same of a row of the table, found out once in a process.
bool conv_is_trusted(const ConvRow& row);

/// The kernel of the first row that runs, pays, may be taken and is trusted.
ConvKernel choose_conv(const ConvUse& use, Convolution from = Convolution::kFast);

/// How many slices of channels the work is cut into with that kernel, for tasks: more than one where all weights, as it
/// packs them, take more bytes than all activations, so that no weight is read twice.
///   example: 512 -> 256, 3x3x3, at 8^3, direct: 4
std::int64_t conv_slices(ConvKernel kernel, const ConvUse& use);

/// Whether that kernel computes this use here.
bool conv_runs(ConvKernel kernel, const ConvUse& use);

/// The grain of blocks with that kernel; empty: none.
Dims conv_grain(ConvKernel kernel, const ConvUse& use);

/// ConvRow::growth of that kernel.
double conv_growth(ConvKernel kernel, const ConvUse& use);

/// Kernels with inputs {x..., w[, bias]} -> y, {d_y, w[, bias]} -> d_x, {x, d_y} -> d_w (f32); each result element is
/// the same for any block it is computed in. With slices blocks may be some of them (boxes of their channels; of a
/// weight gradient channels of d_y) or all. Errors: kConfig when `kernel` does not compute this use here (it was chosen
/// on another processor).
std::unique_ptr<Kernel> make_conv(KernelSet set, ConvKernel kernel, const ConvUse& use);

}  // namespace voxshard
