// All settings of `train`: those of the model, the plan, the training, the tasks and the profile, in one value with
// their layers. The parser of the command line says its words to it, the run that goes on, the model and the recipe say
// theirs.
//
//   TrainSettings train;
//   train.options.work = "work", train.options.run = "run";
//   train.settings.say(Layer::kCommandLine, "steps", {"400"});
//   run_train(train, 2, nullptr, progress);
//   train.settings.layer("learning-rate");       // kRecipe
#pragma once

#include "pipelines/settings/model_settings.h"
#include "pipelines/settings/settings.h"
#include "pipelines/training/run_train.h"

namespace voxshard {

struct TrainSettings {
  explicit TrainSettings(ModelTable models = model_table(), const TaskTable& tasks = task_table());

  TrainOptions options;
  ModelSettings model;
  PlanSettings plan;
  TraceSettings trace;
  std::string preset = "auto";  // or "reference"
  Settings settings;            // bound to the others

  /// Says what the model is usually trained with, and returns what of it counts.
  std::vector<Choice> say_usual();
  /// Makes options of what was said: those that depend on others, the model, and what run.json keeps.
  /// Errors: kUsage for a number out of its range; those of model_spec().
  void settle();
  /// True when the recipe chooses what nobody said: not with {preset} reference, nor where a TPUConfig is given, whose
  /// settings are those of the original. `why`: the setting that decided so, when none was named.
  bool chooses(std::string* why = nullptr) const;
  /// Says what the recipe has for this data, on rank 0 for all, and logs it.
  void say_recipe(const TrainingTask& task, Transport& transport, Progress& progress);

  bool epochs_are_counted = false;  // options.steps are those of options.epochs
};

/// A setting with the value that holds, for people.
struct SettingLine {
  std::string name, value, layer, reason;
};
/// Those of the chosen model and of its task, in the order of the rows. What the recipe would choose is "auto".
std::vector<SettingLine> setting_lines(const TrainSettings& train, const TaskTable& tasks = task_table());
nlohmann::ordered_json to_json(const std::vector<SettingLine>& lines);
std::string to_text(const std::vector<SettingLine>& lines);

}  // namespace voxshard
