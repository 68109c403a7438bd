#include "pipelines/commands/run_evaluate.h"

namespace voxshard {

TaskReport run_evaluate(const EvaluateOptions& asked, Progress& progress, const TaskTable& tasks) {
  EvaluateOptions options = asked;
  const Task& task = task_predicting(tasks, options.predictions);
  require_own_settings(task, options.task, "evaluate", "these predictions are " + options.predictions.string());
  require_in_range(task.settings(TaskCommand::kEvaluate, options.task));
  return task.evaluate(options, progress);
}

}  // namespace voxshard
