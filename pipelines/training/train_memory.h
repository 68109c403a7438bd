// What a training run takes at its widest moment: restoring, a step, or a validation, whichever is most.
//
//   ProcessPlan plan = plan_training(session, task, spec, {.extents = largest, .steps = 100}, host, progress);
#pragma once

#include "pipelines/engine/host_memory.h"
#include "pipelines/tasks/sample_feed.h"
#include "pipelines/tasks/training_task.h"

namespace voxshard {

struct TrainingSize {
  Shape extents;  // of the largest step
  std::int64_t steps = 1;
  int threads = 1;
  bool traced = false;  // a trace knows programs by their place: none is evicted
  FeedMode feed = FeedMode::kBoxes;
};

/// Plans the largest step and every validation; the session keeps as many plans as fit from then on.
/// Errors: kBudget over the budget of a core, or of the process (with the table, and a size that would fit); Stopped.
ProcessPlan plan_training(Session& session, const TrainingTask& task, const ModelSpec& spec, const TrainingSize& size,
                          const HostMemory& host, const Progress& progress);

}  // namespace voxshard
