// What the ranks of a benchmark did in a step: what each sent and waited for, instruction by instruction, beside what
// the program says that it sends. Every rank accounts for itself; rank 0 shows all.
//
//   own.instructions = counts_of_step(before, counts_of(cores), steps);
//   const std::vector<RankBench> ranks = gather_ranks(transport, own, executable);      // empty but on rank 0
#pragma once

#include <nlohmann/json.hpp>

#include "libcore/runtime/core_set.h"

namespace voxshard {

/// Per instruction; of one process only the seconds of its workers.
struct InstructionCounts {
  std::vector<double> worker_seconds;
  std::vector<Traffic> sent;           // to other ranks
  std::vector<double> waited_seconds;  // of workers that had nothing to do before a message had come
};

/// Summed over all runs so far.
InstructionCounts counts_of(const CoreSet& cores);
/// Of each of `steps` steps, between two of these.
InstructionCounts counts_of_step(const InstructionCounts& before, InstructionCounts after, int steps);

struct RankBench {
  std::string name;  // "rank 1 on node-b"
  std::int64_t first_core = 0, cores = 0;
  double step_seconds = 0;  // the median; of the wall clock
  nlohmann::ordered_json memory;
  InstructionCounts instructions;  // of a step, the mean of those measured
  std::vector<Traffic> planned;    // per instruction what the program says that this rank sends
};

/// On rank 0 what all ranks say, with their names, cores and the program's traffic; nothing on the others.
std::vector<RankBench> gather_ranks(Transport& transport, RankBench own, const Executable& executable);

/// A row per rank, with the sums over its instructions.
nlohmann::ordered_json to_json(const std::vector<RankBench>& ranks);
/// What all ranks send and wait for: in all, and by the instructions that send anything, which `names` calls by layer
/// and op.
nlohmann::ordered_json traffic_json(const std::vector<RankBench>& ranks,
                                    const std::vector<std::pair<std::string, std::string>>& names);

}  // namespace voxshard
