// Layer by layer: the cut network against the uncut one. Each layer is given the uncut run's values, so that what
// differs is named where it begins. The uncut network's own kernels are another check's (kernel_check.h).
#pragma once

#include <optional>
#include <string>

#include "libcore/check/unequal.h"
#include "libcore/ops/op_table.h"
#include "libcore/runtime/core_set.h"

namespace voxshard {

struct LayerReport {
  std::optional<LayerDifference> first_difference;  // the first layer that differs by more than allowed
  int compared = 0;
  int bit_equal = 0;         // of them equal to the bit, or of kernels rounded as they may be
  int within_tolerance = 0;  // the others, within tolerance
  int reordered = 0;  // of these the results that are no sums over voxels: their products were added in another order
  double widest_ratio = 0;  // largest difference / tolerance among those
  int sampled = 0;          // of the kernels those that were compared by sums of channels and single voxels
  std::vector<std::string> left_out = {};  // "grad/head/weights (conv_weight_grad)": not compared

  void differ(const LayerDifference& found) {
    if (!first_difference) first_difference = found;
  }
};

/// Runs `cut` (fed, under its real plan, in checked arenas) instruction by instruction; each result must be that of
/// `uncut` to the bit, or as near as the rounding of a sum whose order the cut changes; each margin too; and no memory
/// may be written by others. Of several ranks each looks at what its own cores hold, and all get the report of all:
/// none ends before the others, whatever it finds.
LayerReport check_layers(const CoreSet& uncut, CoreSet& cut, const OpTable& ops, WorkerPool& pool,
                         Transport& transport);

}  // namespace voxshard
