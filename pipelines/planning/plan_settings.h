// The settings of a plan: its device and memory, shared by `plan` and by the commands with {partition} auto. Also the
// settings of a run's profile, shared by train and bench.
//
//   PlanSettings plan;
//   settings.add(plan_rows(plan, model));            // "device", "host-memory", "prefer"
//   spec = planned_spec(plan, model, spec, extents, optimizer, {.progress = &progress});
#pragma once

#include "pipelines/planning/run_plan.h"
#include "pipelines/profile/trace_json.h"
#include "pipelines/settings/model_settings.h"

namespace voxshard {

struct PlanSettings {
  std::string device, prefer = "fastest";  // device empty: this machine if it was measured, else tpu-v3
  std::int64_t host_budget_bytes = 0;      // 0: no limit
  std::string asked_device, device_note;   // as typed, and a note on what is absent
};

/// Returns the rows of the settings; {device} also sets the cores of its slice in `model`.
std::vector<Setting> plan_rows(PlanSettings& plan, ModelSettings& model);

/// The part of a plan's request that does not depend on the model and its size.
struct PlanRequest {
  std::string device, prefer;
  std::int64_t cores = 0, core_budget_bytes = 0, host_budget_bytes = 0;
};
PlanRequest plan_request(const PlanSettings& plan, const ModelSettings& model);

/// The properties of the planning process.
struct Planning {
  int threads = 1, ranks = 1;
  Progress* progress = nullptr;  // never null
  bool advises = true;           // as in PlanOptions; false: only whether a plan fits is asked
};

/// Returns the options of a plan; the caller sets the extents. `exactly`: {cores} must be met, not only not exceeded.
PlanOptions plan_options(const PlanRequest& request, const ModelSpec& spec, const Planning& planning, bool exactly);
/// Returns `spec` planned for `extents` and the optimizer of the run; logs the choice.
ModelSpec planned_spec(const PlanRequest& request, const ModelSpec& spec, const Shape& extents,
                       const OptimizerOptions& optimizer, const Planning& planning);

/// The same if {partition} is auto; else returns `spec` unchanged.
ModelSpec planned_spec(const PlanSettings& plan, const ModelSettings& model, const ModelSpec& spec,
                       const Shape& extents, const OptimizerOptions& optimizer, const Planning& planning);

/// Logs the first line of a run with {device}: the device, the number of hosts and of replicas. Warns of an absent
/// device, and of replicas that the batch leaves idle ({device} auto).
///   planned  true: the replicas are chosen later, by a plan
void announce(const PlanSettings& plan, const ModelSettings& model, const ModelSpec& spec, std::int64_t batch,
              Progress& progress, bool planned = false);

struct TraceSettings {
  std::string file;
  std::int64_t steps = 2;
};
std::vector<Setting> trace_rows(TraceSettings& trace);
/// `device`: the value of {device}; empty and "host" add no emulated clock. Errors: kConfig for an unknown device.
TraceOptions trace_options(const TraceSettings& trace, const std::string& device);

}  // namespace voxshard
