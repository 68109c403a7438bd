// The uncut network's kernels against the slow ones in f64, each fed what the uncut run fed it.
//
//   const LayerReport report = check_kernels(uncut, op_table(), pool, {});
//   check_kernels(uncut, ops, pool, {.only = graph.find("grad/encoder0/conv1/weights")});     // one layer of it
//
// A layer that is cheap for the slow kernel is compared in whole. Of a larger one that has a channel axis (convolutions
// and their gradients) a random sum of its channels is compared over all voxels and taps (projection.h), and of an
// element by element one also single voxels over all channels, the first and the last among them. What has none (norms,
// pools, losses, bias gradients) costs little and is compared in whole at any size. So nothing is left out, unless a
// limit says so, and then by name.
//
// Allowed are the rounding of the result to its type and that of sums in f32 (tolerance.h).
#pragma once

#include <functional>
#include <limits>

#include "libcore/check/layer_check.h"

namespace voxshard {

struct KernelCheckOptions {
  double whole_flops = 1e7;  // layers of more are compared by a sum of their channels; some hundredths of a second
  /// Layers of more are left out. Only to see what that would miss: 1e8 once was the limit of weight gradients.
  double left_out_flops = std::numeric_limits<double>::infinity();
  ValueId only = kNoValue;  // check this layer alone
  std::uint64_t seed = 0;   // of the channels' numbers and the voxels
  /// Called before each layer with how many are done, of how many.
  std::function<void(std::int64_t done, std::int64_t total, const std::string& layer)> progress = {};
};

/// Every kernel of `uncut` (which has run and keeps all). LayerReport::first_difference is that of the first layer,
/// "kernel".
LayerReport check_kernels(const CoreSet& uncut, const OpTable& ops, WorkerPool& pool,
                          const KernelCheckOptions& options);

}  // namespace voxshard
