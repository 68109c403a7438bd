// The scores that TPUEstimator's evaluate reports of the reference U-Net, for a run on a prepared data set: loss,
// accuracy, adaptive_dice32 and categorical cross-entropy (engine/run_evaluation.h).
//
//   const auto evaluation = evaluate_volumes({.work = "work"}, run.spec, run.preparation, progress);
//   RunScores s = evaluate_run({.batch = 8}, std::move(run), context, *evaluation);
//
// As there: losses are those of each replica's part of a batch, the other three of the batch as a whole; accuracy and
// cross-entropy are means over voxels, adaptive_dice32 over batches. Voxels outside of a volume and those of the
// ignored label count nowhere.
#pragma once

#include <filesystem>
#include <string>

#include "pipelines/engine/run_evaluation.h"

namespace voxshard {

struct EvaluateRunOptions {
  std::filesystem::path work;  // a folder that `voxshard prepare` wrote
  std::string fold = "all";    // whose held-out cases are evaluated
  Dims crop;                   // D H W around the centre; empty: whole volumes, padded to what the model takes
};

/// The work folder is read until the evaluation is gone. Errors: kInput and kNoCase for the data; kConfig for a model
/// of other classes or axes, or a fold that there is not.
std::unique_ptr<RunEvaluation> evaluate_volumes(const EvaluateRunOptions& options, const TrainedRun& run,
                                                Progress& progress);

}  // namespace voxshard
