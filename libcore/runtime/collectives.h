// What the cores of a run do together: exchanges and the joins of sums, inside of a rank and across ranks.
#pragma once

#include "libcore/base/parallel.h"
#include "libcore/runtime/core.h"
#include "libcore/runtime/trace.h"
#include "libcore/runtime/transport.h"

namespace voxshard {

/// What a collective works with. `trace`: null for none.
struct Together {
  const Cores& cores;
  WorkerPool& pool;
  Transport& transport;
  TraceRecorder* trace = nullptr;
};

/// Runs the copies of exchange instruction `index`: those inside this rank task by task, then one packed message to and from
/// each other rank.
void run_exchange(const Together& together, std::size_t index);

/// Adds the partial results of join instruction `index` in the binary tree over (core, block), task by task, and writes each
/// sum to the process pool or to the cores of this rank that hold its box.
void run_join(const Together& together, std::size_t index);

}  // namespace voxshard
