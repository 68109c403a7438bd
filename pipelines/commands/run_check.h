// `voxshard check`: judges a data set by the rules of its task, before anything is trained on it.
//
//   TaskReport r = run_check({.dataset = "Dataset001", .deep = true}, context);
//   r.partial;        // true: there are findings
//   run_check_audit("audit.jsonl", "");
#pragma once

#include "pipelines/tasks/table/task_table.h"

namespace voxshard {

/// Errors: kInput, kNoCase for a folder that is no data set, kUsage when no task checks and for outputs inside of the
/// data set, kOutput; Stopped.
TaskReport run_check(const CheckRequest& request, const RunContext& context, const TaskTable& tasks = task_table());

/// Checks the chain of an audit file (io/audit/audit_chain.h). The document is {"audit": {"file", "lines", "last_hash",
/// "torn", "clock_back", "behind_end", "broken": null or {"line", "what", "text"}}}.
///   end  a hash that the chain must hold; empty: any end will do
/// Errors: kUsage for an `end` that is no hash; kInput for a file that is no audit file.
TaskReport run_check_audit(const std::filesystem::path& file, const std::string& end);

}  // namespace voxshard
