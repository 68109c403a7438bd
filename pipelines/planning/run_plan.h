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
  ModelSpec spec;  // its partition, replicas, recomputation and slab width are replaced by the plan
  Shape extents;   // N (of a step, over all replicas) and the spatial axes
  NamedDevice device;
  std::int64_t cores = 0;  // maximum; 0: those of the device's slice, else 16
  bool exactly = false;    // only grids of exactly `cores` cores
  bool for_run = false;    // the plan will run on this machine: a core budget counts its bytes, not a TPU's;
                           // with the fewest cores no grid of more is priced
  std::int64_t core_budget_bytes = 0;  // 0: the device's memory; on the host no limit
  std::int64_t host_budget_bytes = 0;  // of all cores together in this process; 0: no limit. Host bytes.
  bool advises = true;                 // a refusal names a grid of more cores that fits, which takes seconds to find
  Preference preference = Preference::kFastest;
  OptimizerOptions optimizer;  // its state counts on every core
  int threads = 1;
  int ranks = 1;  // processes that run the plan: each has at least one core, and its own memory
};

struct PlanReport {
  std::vector<Candidate> candidates;
  std::optional<std::size_t> best;
  std::string device;
  bool emulated = true;                // seconds are emulated, not wall time of this machine
  std::int64_t core_budget_bytes = 0;  // 0: no limit
  Footprint bytes;                     // of the best
  MemoryReport memory;                 // of its widest core (most bytes)
  std::vector<Allocation> largest;     // of that core
  StepPrice price;                     // of the best
  double planning_s = 0;

  const Candidate& chosen() const { return candidates[*best]; }
};

/// Errors: kBudget when nothing fits, with the nearest candidate and a change that would fit; kConfig for more cores
/// than the device has.   Cost: 128 cores about 5 s on two workers.
PlanReport run_plan(const PlanOptions& options, Progress& progress);

/// Returns `spec` with the cut of the candidate.
ModelSpec with_plan(ModelSpec spec, const Candidate& candidate);

/// `all`: include every candidate with its reason.
nlohmann::ordered_json to_json(const PlanReport& report, bool all);
/// "fits", "over by 1.20 GiB: decoder0/up 4.00 GiB", "fits with less recomputation".
std::string reason_text(const Candidate& candidate);

}  // namespace voxshard
