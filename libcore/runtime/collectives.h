// The collectives of the cores of a run, within a rank and across ranks: joins of sums here, exchanges in
// exchange_flight.h.
//
// A join is an all-reduce along a tree over (core, block) that depends only on shapes. A rank hosts a contiguous block
// of cores, so its addends are neighbours in the tree: it adds the subtrees that are wholly its own, and the additions
// above them are made on one rank each (SumParts), left before right, as in one process. So bytes depend neither on
// ranks nor on workers.
#pragma once

#include "libcore/base/parallel.h"
#include "libcore/ranks/transport.h"
#include "libcore/runtime/core.h"
#include "libcore/runtime/trace.h"

namespace voxshard {

/// The objects that a collective works with. `trace`: null for none.
struct Together {
  const Cores& cores;
  WorkerPool& pool;
  Transport& transport;
  TraceRecorder* trace = nullptr;
};

/// Adds the partial results of join instruction `index` in the binary tree over (core, block), task by task, and writes
/// each sum to the process pool or to the cores of this rank that hold its box.
void run_join(const Together& together, std::size_t index);

}  // namespace voxshard
