// `voxshard plan`, and `--partition auto`: the grid, replicas, recomputation and slab width for a model, chosen by the
// memory of a core and the step time of a device, before anything is allocated.
//
//   PlanReport report = run_plan({.spec = spec, .extents = {4, 256, 256, 256}, .device = device_from_name("tpu-v3"),
//   .cores = 16}, progress); ModelSpec chosen = with_plan(spec, report.chosen());
#pragma once

#include "libcore/memory/report.h"
#include "libcore/planner/planner.h"
#include "libcore/train/optimizer.h"
#include "pipelines/model_runs/model_spec.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/profile/device_files.h"

namespace voxshard {

struct PlanOptions {
  ModelSpec spec;  // its partition, replicas, recomputation and slab width are chosen anew
  Shape extents;   // N (of a step, over all replicas) and the spatial axes
  NamedDevice device;
  std::int64_t cores = 0;              // at most; 0: those of the device's slice, else 16
  bool exactly = false;                // only grids of that many cores
  bool for_run = false;                // the plan is run here: a core budget counts this machine's bytes, not a TPU's
  std::int64_t core_budget_bytes = 0;  // 0: what the device has; on the host no limit
  std::int64_t host_budget_bytes = 0;  // of all cores together in this process; 0: no limit. Host bytes.
  Preference preference = Preference::kFastest;
  OptimizerOptions optimizer;  // its state counts on every core
  int threads = 1;
  int ranks = 1;  // processes that run it: each has at least a core, and bytes of its own
};

struct PlanReport {
  std::vector<Candidate> candidates;
  std::optional<std::size_t> best;
  std::string device;
  bool emulated = true;                // seconds are the device's, not this machine's
  std::int64_t core_budget_bytes = 0;  // 0: no limit
  Footprint bytes;                     // of the best
  MemoryReport memory;                 // of its widest core
  std::vector<Allocation> largest;     // of that core
  StepPrice price;                     // of the best
  double planning_s = 0;

  const Candidate& chosen() const { return candidates[*best]; }
};

/// Errors: kBudget when nothing fits, with what comes nearest and what would fit; kConfig for more cores than the
/// device has.   Cost: 128 cores about 5 s on two workers.
PlanReport run_plan(const PlanOptions& options, Progress& progress);

/// `spec` cut as the candidate says.
ModelSpec with_plan(ModelSpec spec, const Candidate& candidate);

/// With `all`: every candidate with its reason.
nlohmann::ordered_json to_json(const PlanReport& report, bool all);
/// "fits", "over by 1.20 GiB: decoder0/up 4.00 GiB", "fits with less recomputation".
std::string reason_text(const Candidate& candidate);

}  // namespace voxshard
