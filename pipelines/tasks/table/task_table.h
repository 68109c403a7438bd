// The table of all tasks, the only place that lists them. Commands get a table as an argument, so that a test can pass
// its own.
//
//   const Task& task = task_of(task_table(), spec);
//   TaskTable mine = task_table();
//   mine.insert(mine.begin(), std::make_shared<ToyTask>());
#pragma once

#include "pipelines/settings/settings.h"
#include "pipelines/tasks/task.h"

namespace voxshard {

using TaskTable = std::vector<std::shared_ptr<const Task>>;

const TaskTable& task_table();

/// Returns the first task that trains such a model. Errors: kConfig.
const Task& task_of(const TaskTable& table, const ModelSpec& spec);
/// Returns the task of that name. Errors: kUsage lists the names.
const Task& task_named(const TaskTable& table, const std::string& name);
/// Returns the first task that recognises these predictions as its own, else the first of all, whose reader then
/// reports what is wrong.
const Task& task_predicting(const TaskTable& table, const std::filesystem::path& predictions);

/// Returns the tasks in the order of their models, as the help lists them; tasks without a model come last.
std::vector<const Task*> tasks_by_models(const TaskTable& tasks = task_table(),
                                         const ModelTable& models = model_table());
/// Returns the clauses of all tasks that have one, in that order.
///   task_clauses(&TaskWords::demo_cases)             // {"12 volumes", "120 images", "4000 digits, 240 clips"}
std::vector<std::string> task_clauses(std::string TaskWords::*clause, const TaskTable& tasks = task_table(),
                                      const ModelTable& models = model_table());
/// Adds a row for each setting that a task has for the command. A given value goes to all tasks that have the setting,
/// and is noted in `options`, which must not move.
void add_task_rows(Settings& settings, TaskCommand command, TaskOptions& options,
                   const TaskTable& tasks = task_table());

/// Throws the error with which `task` refused one of its settings, or kUsage for given settings that it does not have.
///   what  the receiver of the settings, for the message: "predict", "the run is a unet3d"
void require_own_settings(const Task& task, const TaskOptions& options, const std::string& command,
                          const std::string& what);

}  // namespace voxshard
