#include "pipelines/training/plan_training.h"

#include "libcore/base/text.h"
#include "pipelines/training/training_rows.h"

namespace voxshard {
namespace {

/// Returns the spatial extents of a step: "64x64x64".
std::string size_of(const PlannedTraining& p) {
  Dims size;
  for (int a = 1; a < p.extents.axes(); ++a) size.push_back(p.extents[a]);
  return to_string(size);
}

/// Returns a field of the model, which an image's model may lack.
std::optional<std::int64_t> number_of(const ModelSpec& spec, const std::string& field) {
  for (const ConfigField& row : spec.model->fields)
    if (row.name == field) return std::get<std::int64_t>(row.get(spec.config));
  return std::nullopt;
}

}  // namespace

PlannedTraining plan_training(TrainSettings& s, const std::map<std::string, FieldValue>& of_data,
                              const RunResources& resources, Progress& progress, const TaskTable& tasks) {
  TrainOptions& o = s.options;
  o.resources = resources;
  const Task& kind = task_of(tasks, usual_spec(model_named(s.model.models, s.model.model)));
  s.say_usual();
  const bool chooses = s.chooses();
  s.settle();
  const RunContext context(progress, resources);
  const std::unique_ptr<TrainingTask> task = kind.training({.data = o.work,
                                                            .seed = o.seed,
                                                            .threads = context.threads(),
                                                            .memory_bytes = context.left_bytes(),
                                                            .stop = progress.stop_check()},
                                                           o.task, o.spec);
  task->complete(o.spec);
  count_epochs(o, task->training_cases());
  if (chooses) s.say_recipe(*task, context);
  for (const std::string& text : s.refused) progress.log(text);
  s.epochs_are_counted = true;
  s.settle();
  task->complete(o.spec);
  task->settle(o.spec, o.task, {.steps = o.steps, .batch = o.batch});
  for (const ConfigField& row : o.spec.model->fields)
    if (const auto given = of_data.find(row.option_name()); row.of_data && given != of_data.end())
      o.spec.set(row.name, given->second);
  return {.spec = o.spec,
          .extents = task->largest_extents(o.batch),
          .optimizer = o.optimizer,
          .cases = task->training_cases(),
          .left_bytes = context.left_bytes()};
}

nlohmann::ordered_json to_json(const PlannedTraining& p) {
  nlohmann::ordered_json json = {{"cases", p.cases}, {"size", size_of(p)}, {"batch", p.extents[0]}};
  for (const char* field : {"channels", "classes"})
    if (const auto number = number_of(p.spec, field)) json[field] = *number;
  return json;
}

std::string to_text(const PlannedTraining& p) {
  std::string text =
      "for " + counted(p.cases, "case") + ": samples of " + size_of(p) + ", batch " + std::to_string(p.extents[0]);
  if (const auto channels = number_of(p.spec, "channels")) text += ", " + counted(*channels, "channel");
  if (const auto classes = number_of(p.spec, "classes")) text += ", " + counted(*classes, "class", "classes");
  return text;
}

}  // namespace voxshard
