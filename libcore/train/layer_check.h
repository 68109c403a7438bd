// Layer by layer: the uncut network's kernels against the slow ones, and the cut network against the uncut one. Each
// layer is given the uncut run's values, so that what differs is named where it begins.
#pragma once

#include <optional>
#include <string>

#include "libcore/ops/op_table.h"
#include "libcore/runtime/core_set.h"
#include "libcore/train/unequal.h"

namespace voxshard {

struct LayerReport {
  std::optional<LayerDifference> first_difference;  // the first layer that differs by more than allowed
  int compared = 0;
  int bit_equal = 0;         // of them equal to the bit
  int within_tolerance = 0;  // the others, within tolerance
  double widest_ratio = 0;   // largest difference / tolerance among those
  int sampled = 0;           // of the kernels those that were compared on some planes only
  int left_out = 0;          // kernels of sums that would have taken too long

  void differ(const LayerDifference& found) {
    if (!first_difference) first_difference = found;
  }
};

/// Every kernel of `uncut` (which has run and keeps all) against the reference kernel in f64 on the same inputs, layers
/// of more than `most_flops` in samples. Allowed are the rounding of the result and that of sums in f32.
LayerReport check_kernels(const CoreSet& uncut, const OpTable& ops, WorkerPool& pool, double most_flops);

/// Runs `cut` (fed, under its real plan, in checked arenas) instruction by instruction; each result must be that of
/// `uncut` to the bit, or as near as the rounding of a sum whose order the cut changes; each margin too; and no memory
/// may be written by others. Of several ranks each looks at what its own cores hold, and all get the report of all: none
/// ends before the others, whatever it finds.
LayerReport check_layers(const CoreSet& uncut, CoreSet& cut, const OpTable& ops, WorkerPool& pool,
                         Transport& transport);

}  // namespace voxshard
