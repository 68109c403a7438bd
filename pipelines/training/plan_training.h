// The step of a training before it is begun: the model with the channels and classes of its data, and the size of its
// samples, for `voxshard plan WORK`.
//
//   TrainSettings train;
//   train.options.work = "work";
//   PlannedTraining p = plan_training(train, {}, {.threads = 2}, progress);
//   run_plan({.spec = p.spec, .extents = p.extents, .optimizer = p.optimizer, ...}, progress);
#pragma once

#include "pipelines/training/train_settings.h"

namespace voxshard {

struct PlannedTraining {
  ModelSpec spec;  // not cut
  Shape extents;   // N and the spatial axes of the largest step
  OptimizerOptions optimizer;
  std::int64_t cases = 0;       // that train
  std::int64_t left_bytes = 0;  // of the memory of this process, for all cores together; 0: not known
};

/// Returns the step that `train` would begin with these settings: those of the model and of the recipe where none were
/// given.
///   of_data  fields of the model that the data determine, by the name of the setting: given ones are kept
/// Errors: those of run_train() for data and settings; kInput also for a data set that has to be prepared first.
PlannedTraining plan_training(TrainSettings& settings, const std::map<std::string, FieldValue>& of_data,
                              const RunResources& resources, Progress& progress, const TaskTable& tasks = task_table());

nlohmann::ordered_json to_json(const PlannedTraining& planned);
/// "for 9 cases: samples of 64x64x64, batch 1, 1 channel, 5 classes".
std::string to_text(const PlannedTraining& planned);

}  // namespace voxshard
