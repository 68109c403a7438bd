// Measures the engine's overhead around its kernels on small core sets: barriers, tasks, joins, feeding, updates.
//
//   measure_engine(pool, rates);   // sets task_s and barrier_s, appends the tables "join", "feed" and "update"
#pragma once

#include "libcore/base/parallel.h"
#include "libcore/device/host/host_rates.h"

namespace voxshard {

/// Measures wall time, the lower quartile of many runs. Takes about a second.
void measure_engine(WorkerPool& pool, HostRates& rates);

}  // namespace voxshard
