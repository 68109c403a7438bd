// `voxshard demo`: a small generated data set of a task.
//
//   DemoReport r = run_demo({.folder = "demo", .cases = 12, .test_cases = 4}, progress);
#pragma once

#include "pipelines/tasks/table/task_table.h"

namespace voxshard {

/// The same options give the same bytes. Errors: kUsage for an unknown task or size or a count out of range; kOutput.
DemoReport run_demo(const DemoOptions& options, Progress& progress, const TaskTable& tasks = task_table());
nlohmann::ordered_json to_json(const DemoReport& report);

}  // namespace voxshard
