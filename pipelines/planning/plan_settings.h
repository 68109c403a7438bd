// For which device, and within which memory, a plan is made, as settings: shared by `plan` and by the commands that
// know {partition} auto. And the profile of a run, shared by train and bench.
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
  std::string device, prefer = "fastest";  // device empty: this machine once it was measured, else tpu-v3
  std::int64_t host_budget_bytes = 0;      // 0: no limit
  std::string asked_device, device_note;   // as typed, and what of it is absent
};

/// `model` learns the cores of the slice that {device} names.
std::vector<Setting> plan_rows(PlanSettings& plan, ModelSettings& model);

/// A plan is asked for this, whatever the model and its size.
struct PlanRequest {
  std::string device, prefer;
  std::int64_t cores = 0, core_budget_bytes = 0, host_budget_bytes = 0;
};
PlanRequest plan_request(const PlanSettings& plan, const ModelSettings& model);

/// The process that plans.
struct Planning {
  int threads = 1, ranks = 1;
  Progress* progress = nullptr;  // never null
};

/// Options of a plan; the extents are still to be set. `exactly`: {cores} is met, not just not exceeded.
PlanOptions plan_options(const PlanRequest& request, const ModelSpec& spec, const Planning& planning, bool exactly);
/// `spec` planned for `extents` and the optimizer that will run; what was chosen goes to the log.
ModelSpec planned_spec(const PlanRequest& request, const ModelSpec& spec, const Shape& extents,
                       const OptimizerOptions& optimizer, const Planning& planning);

/// The same where {partition} auto asks for it; else `spec` as it is.
ModelSpec planned_spec(const PlanSettings& plan, const ModelSettings& model, const ModelSpec& spec,
                       const Shape& extents, const OptimizerOptions& optimizer, const Planning& planning);

/// The first line of a run for which {device} was given: where it runs, on how many hosts, with how many replicas. What
/// is absent, and replicas that the batch leaves idle ({device} auto), are warned of.
///   planned  the replicas are still to be chosen
void announce(const PlanSettings& plan, const ModelSettings& model, const ModelSpec& spec, std::int64_t batch,
              Progress& progress, bool planned = false);

struct TraceSettings {
  std::string file;
  std::int64_t steps = 2;
};
std::vector<Setting> trace_rows(TraceSettings& trace);
/// `device`: the name given to {device}; none and "host" add no emulated clock. Errors: kConfig for an unknown device.
TraceOptions trace_options(const TraceSettings& trace, const std::string& device);

}  // namespace voxshard
