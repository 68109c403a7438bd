// The options that say for which device, and within which memory, a plan is made; shared by `plan` and by the commands
// that know --partition auto.
#pragma once

#include "apps/command.h"
#include "apps/model_args.h"
#include "pipelines/commands/run_plan.h"

namespace voxshard {

struct PlanArgs {
  std::string device, prefer = "fastest";  // device empty: this machine once it was measured, else tpu-v3
  std::int64_t host_memory_bytes = 0;      // 0: not given
  std::string asked_device, device_note;   // as typed, and what of it is absent
};

/// `model` learns the cores of the slice that --device names.
void add_plan_options(CLI::App& app, PlanArgs& args, ModelArgs& model);
/// The plan that the options ask for; its extents are still to be set. `exactly`: --cores is met, not just not exceeded.
PlanOptions plan_options(const PlanArgs& args, const ModelArgs& model, const ModelSpec& spec, const Context& context, bool exactly);

/// --host-memory in bytes; 0: no limit.
inline std::int64_t host_budget_bytes(const PlanArgs& args) { return args.host_memory_bytes; }

/// The first line of a run for which --device was given: where it runs, on how many hosts, with how many replicas. What
/// is absent, and replicas that the batch leaves idle (--device auto), are warned of.
///   planned  the replicas are still to be chosen
void announce(const PlanArgs& args, const ModelArgs& model, const ModelSpec& spec, std::int64_t batch, const Context& context,
              bool planned = false);

/// True for --partition auto.
bool is_auto(const ModelArgs& model);
/// `spec` as it is, or with --partition auto planned for `extents` and the optimizer that will run; what was chosen goes to
/// the log.
ModelSpec planned_spec(const PlanArgs& args, const ModelArgs& model, const ModelSpec& spec, const Shape& extents,
                       const OptimizerOptions& optimizer, const Context& context);

}  // namespace voxshard
