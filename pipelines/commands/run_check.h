// `voxshard check`: judges a data set by the rules of its task, before anything is trained on it.
//
//   TaskReport r = run_check({.dataset = "Dataset001", .deep = true}, context);
//   r.partial;        // true: there are findings
#pragma once

#include "pipelines/tasks/table/task_table.h"

namespace voxshard {

/// Errors: kInput, kNoCase for a folder that is no data set, kUsage when no task checks and for outputs inside of the
/// data set, kOutput; Stopped.
TaskReport run_check(const CheckRequest& request, const RunContext& context, const TaskTable& tasks = task_table());

}  // namespace voxshard
