#include "pipelines/commands/run_check.h"

#include "pipelines/commands/memory_report.h"

namespace voxshard {

TaskReport run_check(const CheckRequest& request, const RunContext& context, const TaskTable& tasks) {
  for (const auto& task : tasks)
    if (task->checks()) {
      CheckRequest asked = request;
      require_in_range(task->settings(TaskCommand::kCheck, asked.task));
      TaskReport report = task->check(asked, context);
      add_memory(report, context);
      return report;
    }
  return tasks.front()->check(request, context);
}

}  // namespace voxshard
