#include "pipelines/commands/run_prepare.h"

#include "libcore/ranks/transport.h"
#include "pipelines/commands/host_memory.h"

namespace voxshard {

TaskReport run_prepare(const PrepareRequest& asked, Progress& progress, const TaskTable& tasks) {
  PrepareRequest request = asked;
  const HostMemory memory(asked.host_budget_bytes, ranks_here(asked.transport));
  request.host_budget_bytes = memory.budget_bytes(), request.base_bytes = memory.base_bytes();
  for (const auto& task : tasks)
    if (task->prepares()) {
      require_in_range(task->settings(TaskCommand::kPrepare, request.task));
      TaskReport report = task->prepare(request, progress);
      add_memory(report, memory, progress);
      return report;
    }
  return tasks.front()->prepare(request, progress);
}

}  // namespace voxshard
