// The memory that a program takes, by holder: the one formula behind plans, budgets, refusals, reports and run.json.
//
//   Footprint f = footprint(memory, {.optimizer_slots = 2});
//   f.core(3)         // bytes for core 3; memory held once per process counts on every core
//   f.process()       // bytes of this process for all cores and workers
#pragma once

#include "libcore/memory/host_kernels.h"
#include "libcore/memory/plan.h"
#include "libcore/memory/turns.h"

namespace voxshard {

struct Footprint {
  std::vector<std::int64_t> arenas;  // per core

  // Held once per process, counted on every core.
  std::int64_t results = 0;     // replicated results: converted weights, weight gradients, statistics
  std::int64_t parameters = 0;  // parameters and states
  std::int64_t optimizer = 0;   // the optimizer's tensors, the average of the weights
  std::int64_t packed = 0;      // added by packed weights, each alive around its layer only

  // Held once per process, counted on no core.
  std::int64_t workspaces = 0;  // of all workers
  std::int64_t messages = 0;    // to and from other ranks
  std::int64_t elsewhere = 0;   // the part of the arenas that other ranks hold
  Turns turns;                  // of cores that take turns in memory; else zeros

  std::int64_t shared() const { return results + parameters + optimizer + packed; }
  std::int64_t core(std::size_t core) const { return arenas[core] + shared(); }
  std::int64_t all_arenas() const;
  /// True when the arenas lie in a file and cores take turns in memory.
  bool takes_turns() const { return turns.file_bytes > 0; }
  /// The bytes of arenas that are in the memory of this process at a time.
  std::int64_t arenas_here() const { return takes_turns() ? turns.resident_bytes : all_arenas() - elsewhere; }
  std::int64_t process() const { return arenas_here() + shared() + workspaces + messages; }
  /// The first of the cores with the largest footprint, and its bytes.
  std::size_t widest() const;
  std::int64_t widest_core() const { return core(widest()); }
};

struct FootprintOptions {
  std::int64_t optimizer_slots = 0;  // tensors that the optimizer keeps for each parameter
  bool keeps_average = false;        // and one more for each parameter and state: their moving average
  int workers = 0;                   // threads, each with a workspace
};

/// Counts bytes as the plan does: those of a TPU when it is tiled. `kernels`: null where none are bound; their bytes
/// are then 0.
Footprint footprint(const MemoryPlan& memory, const FootprintOptions& options, const HostKernels* kernels = nullptr);

}  // namespace voxshard
