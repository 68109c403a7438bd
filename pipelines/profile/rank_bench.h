// The traffic of a benchmark step per rank: the messages sent and the time waited, instruction by instruction, beside
// the traffic planned by the program. Every rank counts its own; rank 0 reports all.
//
//   own.instructions = counts_of_step(before, counts_of(cores), steps);
//   const std::vector<RankBench> ranks = gather_ranks(transport, own, executable);      // empty but on rank 0
#pragma once

#include <nlohmann/json.hpp>

#include "libcore/runtime/core_set.h"

namespace voxshard {

/// Counts per instruction; with one process only worker_seconds is filled.
struct InstructionCounts {
  std::vector<double> worker_seconds;
  std::vector<Traffic> sent;           // to other ranks
  std::vector<double> waited_seconds;  // of workers with nothing to do until a message arrived
};

/// Returns the counts, summed over all runs so far.
InstructionCounts counts_of(const CoreSet& cores);
/// Returns the mean counts per step over the `steps` steps between two counts.
InstructionCounts counts_of_step(const InstructionCounts& before, InstructionCounts after, int steps);

struct RankBench {
  std::string name;  // "rank 1 on node-b"
  std::int64_t first_core = 0, cores = 0;
  double step_seconds = 0;  // median, wall time
  nlohmann::ordered_json memory;
  InstructionCounts instructions;  // per step, mean of the measured ones
  std::vector<Traffic> planned;    // per instruction, the traffic that the program plans for this rank
};

/// Gathers the figures of all ranks on rank 0, with their names, cores and the planned traffic; empty on the other
/// ranks.
std::vector<RankBench> gather_ranks(Transport& transport, RankBench own, const Executable& executable);

/// Returns a row per rank, with the sums over its instructions.
nlohmann::ordered_json to_json(const std::vector<RankBench>& ranks);
/// Returns the traffic and waiting time of all ranks: in total, and per instruction that sends anything; `names` holds
/// the layer and op of each instruction.
nlohmann::ordered_json traffic_json(const std::vector<RankBench>& ranks,
                                    const std::vector<std::pair<std::string, std::string>>& names);

}  // namespace voxshard
