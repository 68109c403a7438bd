// Budgets: what a run may take, and the refusal of what takes more, with a cut that fits.
//
//   Executable e = lower_within({.core_bytes = 2 << 30}, graph, op_table(), cut, target);
#pragma once

#include <optional>

#include "libcore/lower/lower.h"

namespace voxshard {

struct Budget {
  std::int64_t core_bytes = 0;     // per core; 0: no limit
  std::int64_t process_bytes = 0;  // all cores and workers of this process together; 0: no limit
  bool of_machine = false;         // the latter is what the machine has free, which nobody gave
};

/// Errors: kBudget when a core would need more than its budget: the needed bytes per core, the five largest allocations
/// and a partition that fits; or the process more than its own, with a size that fits. Without the bytes of kernels,
/// none of which is bound: sizes that no kernel can count are refused like any other.
void require_within(const Budget& budget, const Graph& graph, const OpTable& ops, const Cut& cut, const Target& target);

/// lower() for a budget: what is far over it is refused before kernels are bound, the rest by its exact bytes, those of
/// kernels included. Errors: those of require_within(). Nothing is then allocated.
Executable lower_within(const Budget& budget, const Graph& graph, const OpTable& ops, const Cut& cut,
                        const Target& target);

/// A finer partition under which every core stays within `core_bytes`: the axis with the widest parts is cut in two
/// until it fits or 128 cores are reached. Nullopt when none fits.
std::optional<Dims> partition_that_fits(std::int64_t core_bytes, const Graph& graph, const OpTable& ops, const Cut& cut,
                                        const Target& target);

/// The input that carries the sample: the one with most elements. Errors: kConfig when there is none.
ValueId image_of(const Graph& graph);

/// One line per allocation: "\n  1.50 GiB  encoder0/conv0  bf16[1x16x16x16x32]  unpadded 1.20 GiB".
std::string allocations_text(const std::vector<Allocation>& allocations);

}  // namespace voxshard
