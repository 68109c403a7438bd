// The peak memory of a training run: the largest of restoring, a step, and a validation.
//
//   ProcessPlan plan = plan_training(session, task, spec, {.extents = largest, .steps = 100}, context);
#pragma once

#include "pipelines/engine/run_context.h"
#include "pipelines/tasks/sample_feed.h"
#include "pipelines/tasks/training_task.h"

namespace voxshard {

struct TrainingSize {
  Shape extents;  // of the largest step
  std::int64_t steps = 1;
  int threads = 1;
  bool traced = false;  // a trace identifies programs by their address, so none is evicted
  FeedMode feed = FeedMode::kBoxes;
  std::int64_t from_bytes = 0;  // of the checkpoint whose weights the run begins with
};

/// Plans the largest step and every validation; from then on the session keeps as many plans as fit.
/// Errors: kBudget over the budget of a core, or of the process (with the table, and a size that would fit); Stopped.
ProcessPlan plan_training(Session& session, const TrainingTask& task, const ModelSpec& spec, const TrainingSize& size,
                          const RunContext& context);

}  // namespace voxshard
