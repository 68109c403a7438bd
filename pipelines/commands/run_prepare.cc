#include "pipelines/commands/run_prepare.h"

#include "pipelines/commands/memory_report.h"

namespace voxshard {

TaskReport run_prepare(const PrepareRequest& request, const RunContext& context, const TaskTable& tasks) {
  for (const auto& task : tasks)
    if (task->prepares()) {
      PrepareRequest asked = request;
      require_in_range(task->settings(TaskCommand::kPrepare, asked.task));
      TaskReport report = task->prepare(asked, context);
      add_memory(report, context);
      return report;
    }
  return tasks.front()->prepare(request, context);
}

}  // namespace voxshard
