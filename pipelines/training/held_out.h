// The predictions of what a run held out, which it writes when it ends: with those of the other folds they are the
// predictions of a whole data set by models that did not see it. The engine of `predict` makes them, into one folder:
//
//   RUN/held_out/ CASE.nii.gz ...                  of volumes label maps; of other tasks found.json
//
//   const auto held = held_out_of(options, *task, progress);     // before the training: what will be predicted
//   if (held) report.held_out = predict_held_out({options, kind, *held, context});
#pragma once

#include <optional>

#include "pipelines/tasks/task.h"
#include "pipelines/tasks/training_task.h"
#include "pipelines/training/run_train.h"

namespace voxshard {

/// The folder in that of the run.
inline constexpr const char* kHeldOutFolder = "held_out";

/// Returns what is to be predicted when the run ends; none where nothing is. Warns where it would be, but cannot.
/// Errors: kConfig where the settings ask for it, and nothing validates or predict does not find it.
std::optional<HeldOut> held_out_of(const TrainOptions& options, const TrainingTask& task, Progress& progress);

struct HeldOutPrediction {
  const TrainOptions& options;
  const Task& task;
  const HeldOut& held;
  const RunContext& context;  // of the training, which has ended and freed its memory
};

/// Predicts it by the checkpoint that `predict` takes; all ranks call it. Label maps that are there already, by the
/// same checkpoint and from the same images, are kept. With more ranks than the run has cores for one sample, rank 0
/// predicts alone. What fails is warned about and stands in the report, since the training is complete; over several
/// ranks it ends the command. Memory is planned as predict plans it, within the budgets of the run.
HeldOutReport predict_held_out(const HeldOutPrediction& what);

}  // namespace voxshard
