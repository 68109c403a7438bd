// The workers' loop over a segment: every core walks its own list of stages; the blocks of a stage are tasks, and a
// core's next stage begins when the last block of its previous stage has ended.
#pragma once

#include "libcore/base/parallel.h"
#include "libcore/base/stop.h"
#include "libcore/runtime/exchange_flight.h"

namespace voxshard {

using Segment = std::vector<std::vector<Stage>>;  // per core of the rank

/// Calls `task` with (core from 0, stage, number of the task in it, worker) for every block, or once for a stage
/// without blocks. Free workers take the next task of the lowest core that has one. `flight`: an exchange that may
/// still be in progress; tasks that need its data wait (Stage::free), and workers poll it between two tasks. Errors:
/// the first that a task throws, with the core's number (counted from `first_core`); Stopped when `stop` returns true:
/// tasks that have begun complete, and no other begins. `ended`: called once for a core that has ended its last stage;
/// at most as many cores as there are workers have begun and not ended.
void run_segment(WorkerPool& pool, const Segment& segment, std::int64_t first_core,
                 const std::function<void(std::int64_t core, const Stage& stage, std::size_t task, int worker)>& task,
                 const StopCheck& stop = {}, ExchangeFlight* flight = nullptr,
                 const std::function<void(std::int64_t core)>& ended = {});

}  // namespace voxshard
