#include "pipelines/commands/run_prepare.h"

#include "io/system/process_memory.h"

namespace voxshard {

TaskReport run_prepare(const PrepareRequest& asked, Progress& progress, const TaskTable& tasks) {
  PrepareRequest request = asked;
  if (request.host_budget_bytes == 0) request.host_budget_bytes = available_memory_bytes();
  for (const auto& task : tasks)
    if (task->prepares()) {
      require_in_range(task->settings(TaskCommand::kPrepare, request.task));
      return task->prepare(request, progress);
    }
  return tasks.front()->prepare(request, progress);
}

}  // namespace voxshard
