// What {time} chooses by steps that are run, measured and forgotten: the number of steps, the size of the model, the
// grid where a core has a budget, and of a U-Net on volumes whether they are cropped, where nobody gave them.
// run_train() calls it once the data and the folder are known.
//
//   const FittedIntoTime fitted = fit_into_time({settings, true, records, folder, context, begun, settle}, task);
//   fitted.choices;   // {"base-filters", 16, "1620 steps fit into {time}, ..."}, {"steps", 1620, "a step takes ..."}
#pragma once

#include "libcore/base/stopwatch.h"
#include "pipelines/training/run_folder.h"
#include "pipelines/training/train_settings.h"

namespace voxshard {

struct TimedTraining {
  TrainSettings& settings;
  bool to_recipe;  // false: nothing but the steps is chosen
  const RecordFormat& records;
  RunFolder& folder;
  const RunContext& context;
  const Stopwatch& begun;        // {time} counts from here
  std::function<void()> settle;  // sets all that follows from the settings as they are, on all ranks
};

struct FittedIntoTime {
  std::vector<Choice> choices;  // already set
  ProcessPlan plan;             // the widest of the runs that were measured
};

/// Chooses, and warns where not even one step fits. All ranks call it, and take what rank 0 measures.
///   task  used by each of the measured runs
/// Errors: those of TrainingRun::measure() and of its constructor.
FittedIntoTime fit_into_time(const TimedTraining& training, std::unique_ptr<TrainingTask>& task);

}  // namespace voxshard
