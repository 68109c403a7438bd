// The peak memory of a training run: the largest of restoring, a step, and a validation.
//
//   ProcessPlan plan = plan_training(session, task, spec, {.extents = largest, .steps = 100}, context);
#pragma once

#include "pipelines/engine/run_context.h"
#include "pipelines/tasks/sample_feed.h"
#include "pipelines/tasks/training_task.h"
#include "pipelines/training/run_train.h"

namespace voxshard {

struct TrainingSize {
  Shape extents;  // of the largest step
  std::int64_t steps = 1;
  int threads = 1;
  bool traced = false;  // a trace identifies programs by their address, so none is evicted
  FeedMode feed = FeedMode::kBoxes;
  std::int64_t from_bytes = 0;  // of the checkpoint whose weights the run begins with
};

/// Returns the size of a training whose largest step has these extents.
TrainingSize training_size(const TrainOptions& options, const Shape& extents, const RunContext& context);

/// Returns the session of a training whose steps stay within `budget`.
std::unique_ptr<Session> training_session(const TrainOptions& options, const ModelSpec& spec, const Budget& budget,
                                          const RunContext& context);

/// Plans the largest step and every validation; from then on the session keeps as many plans as fit.
///   would_do  names the {host-memory} of a refusal; empty: that of this plan
/// Errors: kBudget over the budget of a core, or of the process (with the table, and a size that would fit); Stopped.
ProcessPlan plan_training(Session& session, const TrainingTask& task, const ModelSpec& spec, const TrainingSize& size,
                          const RunContext& context, const WouldDo& would_do = {});

/// True when a training is planned within the budgets of this process; nothing is allocated. With several ranks each
/// plans by itself, also a grid. Errors: those of plan_training() but kBudget. Cost: that of planning a run.
///   extents  of the largest step
bool fits_memory(const TrainOptions& options, const TrainingTask& task, const Shape& extents,
                 const RunContext& context);

/// A training as it is planned within a budget.
struct PlannedRun {
  const TrainOptions& options;
  const ModelSpec& spec;                  // before its grid is planned
  const std::optional<PlanRequest> grid;  // none: the grid of `spec`
  const TrainingTask& task;
  const TrainingSize& size;
};

/// Returns a {host-memory}, in bytes, within which a run is planned that is refused now: with its grid, and the
/// precision where the recipe chooses it, as they are planned within that much. None where there is none. Errors:
/// Stopped. Cost: that of planning, several times.
std::optional<std::int64_t> training_budget(const PlannedRun& run, const RunContext& context);

/// Plans; to an error over the budget it adds the {host-memory} that would do. Errors: those of `plan`.
void name_budget(const WouldDo& would_do, const std::function<void()>& plan);

}  // namespace voxshard
