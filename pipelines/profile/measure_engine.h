// What the engine takes around its kernels, measured on small core sets: barriers, tasks, joins, feeding, updates.
//
//   measure_engine(pool, rates);   // sets task_s and barrier_s, appends the tables "join", "feed" and "update"
#pragma once

#include "libcore/base/parallel.h"
#include "libcore/device/host/host_rates.h"

namespace voxshard {

/// Wall time, lower quartile of many. Takes about a second.
void measure_engine(WorkerPool& pool, HostRates& rates);

}  // namespace voxshard
