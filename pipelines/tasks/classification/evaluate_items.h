// The scores that the original's classifiers report for a run: loss, top-1 and top-5 accuracy over the items of a data
// set with classes (engine/run_evaluation.h). Source: tensorflow/tpu, models/official/resnet/resnet_main.py, metric_fn.
//
//   const auto evaluation = evaluate_items({.data = "cells"}, run, context);
//   RunScores s = evaluate_run({.batch = 64}, std::move(run), context, *evaluation);
#pragma once

#include "pipelines/engine/run_evaluation.h"
#include "pipelines/tasks/classification/dataset/class_dataset.h"

namespace voxshard {

struct EvaluateItemsOptions {
  std::filesystem::path data;  // as read_unseen_classes takes it
  std::int64_t most_pixels = kMostPixels;
  VolumeFormats formats = volume_formats();
  ClassKinds kinds = class_kinds();
  bool best_series = true;  // as in ClassReading
};

/// Makes the evaluation. Every item is decoded once before the first batch; items that cannot be used are among the
/// failures. Errors: as read_unseen_classes; kCheckpoint for a run on other data; kBudget for memory; Stopped.
std::unique_ptr<RunEvaluation> evaluate_items(const EvaluateItemsOptions& options, const TrainedRun& run,
                                              const RunContext& context);

}  // namespace voxshard
