#include "pipelines/commands/run_evaluate.h"

namespace voxshard {

TaskReport run_evaluate(const EvaluateOptions& options, Progress& progress, const TaskTable& tasks) {
  const Task& task = task_predicting(tasks, options.predictions);
  require_own_settings(task, options.task, "evaluate", "these predictions are " + options.predictions.string());
  return task.evaluate(options, progress);
}

}  // namespace voxshard
