// `voxshard prepare`: converts a data set to a work folder that `train` reads, for tasks that need prepared data.
//
//   TaskReport r = run_prepare({.dataset = "Dataset001", .work = "work"}, context);
#pragma once

#include "pipelines/tasks/table/task_table.h"

namespace voxshard {

/// Errors: kInput, kNoCase (no case at all, or every case failed), kConfig for bad options, kUsage when no task
/// prepares, kOutput.
TaskReport run_prepare(const PrepareRequest& request, const RunContext& context, const TaskTable& tasks = task_table());

}  // namespace voxshard
