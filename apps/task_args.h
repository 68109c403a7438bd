// What tasks want to be told about a command, as options of its subcommand, and a task's report as the outcome of a
// command.
//
//   add_task_settings(app, TaskCommand::kTrain, options->task);   // --crop, --flip, --val ...
//   return outcome(run_evaluate(*options, *context.progress));
#pragma once

#include "apps/command.h"
#include "pipelines/commands/task_table.h"

namespace voxshard {

/// One option for each name that a task has; what is given goes to all tasks that have it, and is noted in
/// `options.given`. `options` must stay where it is.
void add_task_settings(CLI::App& app, TaskCommand command, TaskOptions& options, const TaskTable& tasks = task_table());

Outcome outcome(const TaskReport& report);

}  // namespace voxshard
