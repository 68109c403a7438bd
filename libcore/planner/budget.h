// Memory budgets of a run. A plan that exceeds its budget is refused with a suggestion that fits.
//
//   Executable e = lower_within({.core_bytes = 2 << 30}, graph, op_table(), cut, target);
#pragma once

#include <optional>

#include "libcore/lower/lower.h"

namespace voxshard {

/// Bytes that a process holds for each element of the image beside it and its labels.
struct BytesBeside {
  std::int64_t staying = 0;   // while all cores stay in memory
  std::int64_t in_turns = 0;  // while they take turns
};

struct Budget {
  std::int64_t core_bytes = 0;     // per core; 0: no limit
  std::int64_t process_bytes = 0;  // all cores and workers of this process together; 0: no limit
  bool of_machine = false;         // process_bytes is the machine's free memory, not a value that the user gave
  bool holds_sample = true;        // the process holds the image while its cores take turns; of ranks the first alone
  BytesBeside beside;              // what it holds besides, where cores may take turns
  bool may_take_turns = false;     // beyond process_bytes arenas may lie in a file, see lower_within()
  std::int64_t held_bytes = 0;     // by the process beside process_bytes; {host-memory} is for both
  bool caller_names = false;       // who asks for the plan names a {host-memory} that would do, not the refusal
};

/// Bytes of an element of the image that a process holds while its cores take turns: f32, which feeds them, and its
/// labels behind them, i32 and u8.
inline constexpr std::int64_t kImageElementBytes = 5;

/// Errors: kBudget when a core would need more than its budget, with the needed bytes per core and a partition that
/// fits, in one line, and the five largest allocations in a table below; or when the process would, with a size that
/// fits. No kernel is bound and the bytes of kernels do not count, so that sizes which no kernel supports are refused
/// like any other.
void require_within(const Budget& budget, const Graph& graph, const OpTable& ops, const Cut& cut, const Target& target);

/// Returns the text of such a refusal without its table: one line, for lists of many cases.
std::string without_allocations(const std::string& refusal);
/// Returns such a refusal whose line ends with `advice`, before its table.
Error advising(const Error& refusal, const std::string& advice);
/// Returns such a refusal that names a {host-memory} too, in bytes, which would do.
Error naming_host_memory(const Error& refusal, std::int64_t bytes);

/// Lowers within a budget: a plan far over it is refused before kernels are bound, any other by its exact bytes
/// including those of kernels. Where cores may take turns (memory/turns.h), the sample counts too, kImageElementBytes
/// and `beside` for each element of the image; cores that then exceed the process' budget, but none by itself
/// that of a core, take turns: over the cut that was asked for, or the first finer one whose turns take at most half of
/// what the sample leaves, up to 256 cores. A finer cut halves the longest parts and leaves the innermost axis whole as
/// long as another can be cut; it changes a result by no more than any cut does. Errors: those of require_within();
/// nothing has then been allocated.
Executable lower_within(const Budget& budget, const Graph& graph, const OpTable& ops, const Cut& cut,
                        const Target& target);

/// Lowers for cores that take turns as lower_within() does, over a cut or the first finer one of which turns are within
/// the budget, also where the cores could stay in memory; none where there is none.
std::optional<Executable> lower_in_turns(Budget budget, const Graph& graph, const OpTable& ops, Cut cut, Target target);

/// Returns a finer partition under which every core stays within `core_bytes`: the axis with the widest parts is halved
/// until the plan fits or 128 cores are reached. Nullopt when none fits.
std::optional<Dims> partition_that_fits(std::int64_t core_bytes, const Graph& graph, const OpTable& ops, const Cut& cut,
                                        const Target& target);

/// Returns the input that holds the sample: the one with most elements. Errors: kConfig when there is none.
ValueId image_of(const Graph& graph);

/// One line per allocation: "\n  1.50 GiB  encoder0/conv0  bf16[1x16x16x16x32]  unpadded 1.20 GiB".
std::string allocations_text(const std::vector<Allocation>& allocations);

}  // namespace voxshard
