// All settings of `train`: those of the model, the plan, the training, the tasks and the profile, in one value with
// their layers. They are set by the command-line parser, by the resumed run, by the model and by the recipe.
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
  Settings settings;            // bound to the members above

  /// Sets the model of the run whose weights a new run begins with, as rank 0 reads it, and returns the choices that
  /// took effect. Errors: those of load_trained_run().
  std::vector<Choice> say_model_of_start(Transport& transport);
  /// Sets the usual training settings of the model, and returns those that took effect.
  std::vector<Choice> say_usual();
  /// Derives options from the settings: those that depend on others, the model, and the record for run.json.
  /// Errors: kUsage for a number out of its range; those of model_spec().
  void settle();
  /// True when the recipe chooses the settings that were not given: not with {preset} reference, nor with a TPUConfig,
  /// which uses the settings of the original. `why`: receives the TPUConfig setting that prevents it, if {preset} was
  /// not given.
  bool chooses(std::string* why = nullptr) const;
  /// True when {time} chooses a field of the model, where the recipe chooses at all: those of its size
  /// (settings/model_sizes.h), if nobody gave one of them, and crop of a U-Net on volumes; also the partition, where a
  /// core has a budget and nothing is said of the grid.
  bool leaves_to_time(const std::string& option) const;
  /// Sets the values of the recipe for this data, chosen on rank 0 for all ranks, and returns them. A later call, for
  /// other steps, keeps the precision, and takes back what an earlier one chose and this one does not.
  std::vector<Choice> say_recipe(const TrainingTask& task, const RunContext& context);

  bool epochs_are_counted = false;   // options.steps are those of options.epochs
  bool unseen_host_is_said = false;  // by say_recipe(), which may choose several times
  std::vector<std::string> refused;  // what the last say_recipe() did not choose for want of memory; on rank 0
};

/// A setting with its effective value, for people.
struct SettingLine {
  std::string name, value, layer, reason;
};
/// Returns the settings of the chosen model and of its task, in the order of the rows. Values left to the recipe are
/// "auto".
std::vector<SettingLine> setting_lines(const TrainSettings& train, const TaskTable& tasks = task_table());
nlohmann::ordered_json to_json(const std::vector<SettingLine>& lines);
std::string to_text(const std::vector<SettingLine>& lines);

}  // namespace voxshard
