// Compares the uncut network's kernels with the slow ones in f64, each on the inputs of the uncut run.
//
//   const LayerReport report = check_kernels(uncut, op_table(), pool, {});
//   check_kernels(uncut, ops, pool, {.only = graph.find("grad/encoder0/conv1/weights")});     // one layer of it
//
// A layer that is cheap for the slow kernel is compared in whole. For a larger one with a channel axis (convolutions
// and their gradients) a random sum of its channels is compared over all voxels and taps (projection.h); unless it is a
// contraction, single voxels are compared over all channels too, the first and the last among them. Layers without such
// an axis (norms, pools, losses, bias gradients) are cheap and compared in whole at any size. So no layer is left out
// unless a limit is set, and left-out layers are named.
//
// The tolerance is the rounding of the result to its type plus the rounding of sums in f32 (tolerance.h).
#pragma once

#include <functional>
#include <limits>

#include "libcore/check/layer_check.h"

namespace voxshard {

struct KernelCheckOptions {
  double whole_flops = 1e7;  // larger layers are compared by a sum of their channels; takes some 10 ms
  /// Larger layers are left out. Only for seeing what a limit would miss: 1e8 once was the limit of weight gradients.
  double left_out_flops = std::numeric_limits<double>::infinity();
  ValueId only = kNoValue;  // check this layer alone
  std::uint64_t seed = 0;   // for the random numbers of channels and the choice of voxels
  /// Called before each layer with the number of layers done and in total.
  std::function<void(std::int64_t done, std::int64_t total, const std::string& layer)> progress = {};
};

/// Checks every kernel of `uncut`, which has run and keeps all values. LayerReport::first_difference is that of the
/// first differing layer and named "kernel".
LayerReport check_kernels(const CoreSet& uncut, const OpTable& ops, WorkerPool& pool,
                          const KernelCheckOptions& options);

}  // namespace voxshard
