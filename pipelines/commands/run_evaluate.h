// `voxshard evaluate`: predictions against references, by the task whose predictions they are.
//
//   TaskReport r = run_evaluate({.predictions = "pred", .references = "data/labelsTs"}, progress);
#pragma once

#include "pipelines/commands/task_table.h"

namespace voxshard {

/// Errors: kInput for what is missing, kNoCase when nothing can be scored, kUsage for an option that is not one of the
/// task, kOutput.
TaskReport run_evaluate(const EvaluateOptions& options, Progress& progress, const TaskTable& tasks = task_table());

}  // namespace voxshard
