#include "pipelines/tasks/table/task_table.h"

#include <algorithm>

#include "libcore/base/text.h"
#include "pipelines/tasks/classification/classification.h"
#include "pipelines/tasks/detection/detection.h"
#include "pipelines/tasks/segmentation/segmentation.h"

namespace voxshard {

const TaskTable& task_table() {
  static const TaskTable table = {segmentation(), classification(), detection()};
  return table;
}

const Task& task_of(const TaskTable& table, const ModelSpec& spec) {
  for (const auto& task : table)
    if (task->learns(spec)) return *task;
  throw Error(ErrorKind::kConfig, "[task] no task has a " + spec.model_name() + " as its model");
}

const Task& task_named(const TaskTable& table, const std::string& name) {
  std::string names;
  for (const auto& task : table) {
    if (task->name() == name) return *task;
    names += (names.empty() ? "" : " or ") + std::string(task->name());
  }
  throw Error(ErrorKind::kUsage, "[demo] {task} is \"" + name + "\"; expected " + names);
}

const Task& task_predicting(const TaskTable& table, const std::filesystem::path& predictions) {
  const auto it =
      std::find_if(table.begin(), table.end(), [&](const auto& task) { return task->predicted(predictions); });
  return it == table.end() ? *table.front() : **it;
}

std::vector<const Task*> tasks_by_models(const TaskTable& tasks, const ModelTable& models) {
  std::vector<const Task*> all;
  const auto add = [&](const Task& task) {
    if (std::ranges::find(all, &task) == all.end()) all.push_back(&task);
  };
  for (const auto& model : models)
    for (const ModelSpec spec = usual_spec(model); const auto& task : tasks)
      if (task->learns(spec)) add(*task);
  for (const auto& task : tasks) add(*task);
  return all;
}

std::vector<std::string> task_clauses(std::string TaskWords::*clause, const TaskTable& tasks,
                                      const ModelTable& models) {
  std::vector<std::string> clauses;
  for (const Task* task : tasks_by_models(tasks, models))
    if (std::string text = task->words().*clause; !text.empty()) clauses.push_back(std::move(text));
  return clauses;
}

void add_task_rows(Settings& settings, TaskCommand command, TaskOptions& options, const TaskTable& tasks) {
  for (const auto& task : tasks)
    for (Setting& row : task->settings(command, options)) settings.add(std::move(row), task->name(), options);
}

void require_own_settings(const Task& task, const TaskOptions& options, const std::string& command,
                          const std::string& what) {
  for (const RefusedSetting& refused : options.refused)
    if (refused.task == task.name()) throw refused.error;
  std::string names, owner;
  for (const GivenSetting& given : options.given) {
    if (std::find(given.tasks.begin(), given.tasks.end(), task.name()) != given.tasks.end()) continue;
    names += (names.empty() ? "{" : ", {") + given.name + "}";
    owner = joined(given.tasks, " and ") + (given.tasks.size() > 1 ? " have " : " has ");
  }
  if (!names.empty())
    throw Error(ErrorKind::kUsage,
                "[" + command + "] only " + owner + names + ", but " + what + " (" + task.name() + "); leave it out");
}

}  // namespace voxshard
