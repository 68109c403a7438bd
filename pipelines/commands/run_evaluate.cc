#include "pipelines/commands/run_evaluate.h"

#include "pipelines/commands/host_memory.h"

namespace voxshard {

TaskReport run_evaluate(const EvaluateOptions& asked, Progress& progress, const TaskTable& tasks) {
  EvaluateOptions options = asked;
  const HostMemory memory(asked.host_budget_bytes);
  options.host_budget_bytes = memory.budget_bytes(), options.base_bytes = memory.base_bytes();
  const Task& task = task_predicting(tasks, options.predictions);
  require_own_settings(task, options.task, "evaluate", "these predictions are " + options.predictions.string());
  require_in_range(task.settings(TaskCommand::kEvaluate, options.task));
  TaskReport report = task.evaluate(options, progress);
  add_memory(report, memory);
  return report;
}

}  // namespace voxshard
