#include "pipelines/commands/run_prepare.h"

namespace voxshard {

TaskReport run_prepare(const PrepareRequest& request, Progress& progress, const TaskTable& tasks) {
  for (const auto& task : tasks)
    if (task->prepares()) return task->prepare(request, progress);
  return tasks.front()->prepare(request, progress);
}

}  // namespace voxshard
