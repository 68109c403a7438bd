// Which tasks there are: the one place that lists them. Commands are handed a table, so that a test can hand in its
// own.
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

/// The first task that learns such a model. Errors: kConfig.
const Task& task_of(const TaskTable& table, const ModelSpec& spec);
/// The task of that name. Errors: kUsage lists the names.
const Task& task_named(const TaskTable& table, const std::string& name);
/// The first task whose predictions these are, else the first of all, whose reader then says what is wrong.
const Task& task_predicting(const TaskTable& table, const std::filesystem::path& predictions);

/// Tasks in the order of their models, as help names them; those of no model come last.
std::vector<const Task*> tasks_by_models(const TaskTable& tasks = task_table(),
                                         const ModelTable& models = model_table());
/// The clauses of all tasks that have one, in that order.
///   task_clauses(&TaskWords::demo_cases)             // {"12 volumes", "120 images", "4000 digits, 240 clips"}
std::vector<std::string> task_clauses(std::string TaskWords::*clause, const TaskTable& tasks = task_table(),
                                      const ModelTable& models = model_table());
/// Adds a row for each name that a task has for the command; what is said goes to all tasks that have it, and is noted
/// in `options`, which must stay where it is.
void add_task_rows(Settings& settings, TaskCommand command, TaskOptions& options,
                   const TaskTable& tasks = task_table());

/// Errors: what `task` refused of its settings; kUsage names those that were given but that it does not have.
///   what  whom they were given to: "predict", "the run is a unet3d"
void require_own_settings(const Task& task, const TaskOptions& options, const std::string& command,
                          const std::string& what);

}  // namespace voxshard
