// Measures this machine for the device `host`: every sample of host_samples.h in interleaved passes, then the engine's
// overhead around its kernels, on small core sets.
//
//   HostRates rates = measure_host({.threads = 2}, progress);    // about a minute; quick: a quarter of that
//
// Kernels are timed in processor time of each worker, so that other programs on the machine disturb less; barriers,
// tasks, joins and updates in wall time, of which the lower quartile is used.
#pragma once

#include "libcore/device/host/host_rates.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {

struct MeasureOptions {
  int threads = 1;
  bool quick = false;
  double call_seconds = 8e-4;  // a sample is repeated within a pass for about this long
  double most_flops = 2e9;     // of one call
};

/// Returns all rates; run_doctor sets cpu and memory_bytes. Errors: Stopped.
HostRates measure_host(const MeasureOptions& options, Progress& progress);

}  // namespace voxshard
