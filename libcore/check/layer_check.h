// Compares the cut network with the uncut one layer by layer. Each layer is given the uncut run's values, so that a
// difference is reported where it begins. kernel_check.h checks the uncut network's own kernels.
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
  int bit_equal = 0;         // results equal to the bit; for kernels, those within the rounding of the type
  int within_tolerance = 0;  // the others, within tolerance
  int reordered = 0;        // those among them that are no sums over voxels: their products were added in another order
  double widest_ratio = 0;  // largest difference / tolerance among these
  int sampled = 0;          // kernels that were compared by sums of channels and single voxels
  std::vector<std::string> left_out = {};  // "grad/head/weights (conv_weight_grad)": not compared

  void differ(const LayerDifference& found) {
    if (!first_difference) first_difference = found;
  }
};

/// Runs `cut` (fed, under its real plan, in checked arenas) instruction by instruction. Each result and each margin
/// must equal that of `uncut` to the bit, or within the rounding of a sum whose order the cut changes, and no other
/// memory may be written. With several ranks each checks its own cores, and all get the joint report: no rank ends
/// before the others, whatever it finds.
LayerReport check_layers(const CoreSet& uncut, CoreSet& cut, const OpTable& ops, WorkerPool& pool,
                         Transport& transport);

}  // namespace voxshard
