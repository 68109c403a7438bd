// The scores that the original's RetinaNet reports for a run: the loss with its parts, and COCO's AP over the images of
// a data set (engine/run_evaluation.h). Source: tensorflow/tpu, models/official/retinanet/retinanet_model.py.
//
//   const auto evaluation = evaluate_images({.data = "coco/val.json"}, run, context);
//   RunScores s = evaluate_run({.batch = 8}, std::move(run), context, *evaluation);
#pragma once

#include "io/boxes/box_format.h"
#include "io/image/image.h"
#include "pipelines/engine/run_evaluation.h"
#include "pipelines/tasks/detection/scores/predict_image.h"

namespace voxshard {

struct EvaluateImagesOptions {
  std::filesystem::path data;  // as read_detection_dataset takes it; of several annotation files the *val*.json
  std::int64_t most_pixels = kMostPixels;
  BoxFormats formats = box_formats();
};

/// Makes the evaluation. Every image is decoded once before the first batch; boxes are clipped to it as in training;
/// entries that cannot be used are among the failures. Errors: as read_detection_dataset; kConfig for classes that the
/// run does not know; kBudget for memory; Stopped.
std::unique_ptr<RunEvaluation> evaluate_images(const EvaluateImagesOptions& options, const TrainedRun& run,
                                               const RunContext& context);

}  // namespace voxshard
