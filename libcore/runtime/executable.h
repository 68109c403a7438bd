// A program made ready for this host: kernels bound, memory planned; nothing allocated yet. What it needs can be asked,
// and refused, before a CoreSet takes memory.
#pragma once

#include "libcore/memory/host_kernels.h"
#include "libcore/memory/plan.h"

namespace voxshard {

struct Executable {
  Program program;
  HostKernels kernels;
  MemoryPlan memory;

  /// What one core needs: its arena, and what is held once per process but counted on every core (parameters, states,
  /// replicated results, reordered weights, `optimizer_bytes`).
  std::int64_t core_bytes(std::size_t core, std::int64_t optimizer_bytes) const;
  /// What the process takes with `workers` threads: all arenas, the process pool once, a workspace per worker.
  std::int64_t host_bytes(int workers, std::int64_t optimizer_bytes) const;
};

/// Recomputes and partitions as `cut` says, verifies, plans and binds. `graph` is without recomputation. Errors: kConfig from
/// the partition; kInternal when a stage breaks an invariant.
Executable compile(const Graph& graph, const OpTable& ops, const Cut& cut, KernelSet set, const MemoryOptions& options);

}  // namespace voxshard
