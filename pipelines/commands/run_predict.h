// `voxshard predict`: applies a trained run to new inputs, whole and at full resolution, with the model partitioned.
//
//   PredictReport r = run_predict({.run = "model", .input = "imagesTs", .output = "predictions"}, context);
#pragma once

#include "pipelines/tasks/table/task_table.h"
#include "pipelines/tpu/estimator.h"

namespace voxshard {

/// Predicts by the task of the run's model. Errors: kUsage when the output would overwrite the input or the task does
/// not have an option, kInput, kNoCase (no input, or every one failed), kCheckpoint, kBudget (before anything is
/// allocated or written), kOutput, kConfig for a condition of TPUEstimator's predict that is not met.
PredictReport run_predict(const PredictOptions& options, const RunContext& context,
                          const TaskTable& tasks = task_table(), const EstimatorOptions& estimator = {});
nlohmann::ordered_json to_json(const PredictReport& report);

}  // namespace voxshard
