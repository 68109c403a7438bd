// `voxshard evaluate`: compares predictions with references, by the metrics of their task; or evaluates a run on data,
// like TPUEstimator's evaluate and under its conditions.
//
//   TaskReport r = run_evaluate({.predictions = "pred", .references = "data/labelsTs"}, context);
//   r = run_evaluate({.predictions = "run", .references = "work", .batch = 8}, context);
#pragma once

#include "pipelines/tasks/table/task_table.h"
#include "pipelines/tpu/estimator.h"

namespace voxshard {

/// With options.further it evaluates several (evaluate_several.h).
/// Errors: kInput for missing files, kNoCase when nothing can be scored, kUsage for an option that the task does not
/// have, kOutput; for a run also kCheckpoint, kBudget and, for a condition that is not met, kConfig.
///   estimator  for a run: its cores, and the batch if `options` has none
TaskReport run_evaluate(const EvaluateOptions& options, const RunContext& context,
                        const TaskTable& tasks = task_table(), const EstimatorOptions& estimator = {});

}  // namespace voxshard
