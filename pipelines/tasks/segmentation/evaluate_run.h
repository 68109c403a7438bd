// The scores that TPUEstimator's evaluate reports for the reference U-Net, for a run on a prepared data set: loss,
// accuracy, adaptive_dice32 and categorical cross-entropy (engine/run_evaluation.h).
//
//   const auto evaluation = evaluate_volumes({.work = "work"}, run.spec, run.preparation, progress);
//   RunScores s = evaluate_run({.batch = 8}, std::move(run), context, *evaluation);
//
// As there, losses are computed on each replica's part of a batch, the other three on the whole batch; accuracy and
// cross-entropy are means over voxels, adaptive_dice32 over batches. Voxels outside a volume and those of the ignored
// label do not count.
#pragma once

#include <filesystem>
#include <string>

#include "pipelines/engine/run_evaluation.h"

namespace voxshard {

struct EvaluateRunOptions {
  std::filesystem::path work;  // a folder that `voxshard prepare` wrote
  std::string fold = "all";    // the fold whose held-out cases are evaluated; "all": every case
  Dims crop;                   // D H W around the centre; empty: whole volumes, padded to extents that the model takes
};

/// Makes the evaluation; it reads the work folder for as long as it lives. Errors: kInput and kNoCase for the data;
/// kConfig for a model with other classes or axes, or a fold that does not exist.
std::unique_ptr<RunEvaluation> evaluate_volumes(const EvaluateRunOptions& options, const TrainedRun& run,
                                                Progress& progress);

}  // namespace voxshard
