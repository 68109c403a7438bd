// `voxshard evaluate`: predictions against references, by the task whose predictions they are; or a run on data, as
// TPUEstimator's evaluate, under its conditions.
//
//   TaskReport r = run_evaluate({.predictions = "pred", .references = "data/labelsTs"}, context);
//   r = run_evaluate({.predictions = "run", .references = "work", .batch = 8}, context);
#pragma once

#include "pipelines/tasks/table/task_table.h"
#include "pipelines/tpu/estimator.h"

namespace voxshard {

/// Errors: kInput for what is missing, kNoCase when nothing can be scored, kUsage for an option that is not one of the
/// task, kOutput; of a run also kCheckpoint, kBudget and, for a condition that is not met, kConfig.
///   estimator  of a run: its cores, and the batch where `options` have none
TaskReport run_evaluate(const EvaluateOptions& options, const RunContext& context,
                        const TaskTable& tasks = task_table(), const EstimatorOptions& estimator = {});

}  // namespace voxshard
