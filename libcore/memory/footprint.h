// What a program takes, by who holds it: the one formula behind plans, budgets, refusals, reports and run.json.
//
//   Footprint f = footprint(memory, {.optimizer_slots = 2});
//   f.core(3)         // what core 3 needs; what is held once per process counts on every core
//   f.process()       // what this process takes for all cores and workers
#pragma once

#include "libcore/memory/host_kernels.h"
#include "libcore/memory/plan.h"

namespace voxshard {

struct Footprint {
  std::vector<std::int64_t> arenas;  // per core

  // Once per process, counted on every core.
  std::int64_t results = 0;     // replicated results: converted weights, weight gradients, statistics
  std::int64_t parameters = 0;  // and states
  std::int64_t optimizer = 0;   // what the optimizer keeps
  std::int64_t packed = 0;      // what weights as the kernels want them, each around its layer, add to these

  // Once per process, of no core.
  std::int64_t workspaces = 0;  // of all workers
  std::int64_t messages = 0;    // to and from other ranks
  std::int64_t elsewhere = 0;   // of the arenas, those that other ranks hold

  std::int64_t shared() const { return results + parameters + optimizer + packed; }
  std::int64_t core(std::size_t core) const { return arenas[core] + shared(); }
  std::int64_t all_arenas() const;
  std::int64_t process() const { return all_arenas() - elsewhere + shared() + workspaces + messages; }
  /// The first of the cores that need most, and its bytes.
  std::size_t widest() const;
  std::int64_t widest_core() const { return core(widest()); }
};

struct FootprintOptions {
  std::int64_t optimizer_slots = 0;  // tensors that the optimizer keeps for each parameter
  int workers = 0;                   // threads, each with a workspace
};

/// In the bytes of the plan: of a TPU when it is tiled. `kernels`: null where none are bound; their bytes are then 0.
Footprint footprint(const MemoryPlan& memory, const FootprintOptions& options, const HostKernels* kernels = nullptr);

}  // namespace voxshard
