// The objects in pictures by a trained detector, as COCO results: one JSON array of {image_id, category_id, bbox, score} with
// bbox [x, y, width, height] in pixels of the file's upright picture.
//
//   PredictReport r = predict_detections({.run = "model", .input = "coco/val.json", .output = "found.json"}, run, progress);
//
// Called by run_predict. Pictures of a COCO JSON keep their ids; those of a folder are numbered 1, 2, ... by name, and each
// result then says its "file_name" too.
#pragma once

#include "pipelines/commands/run_predict.h"
#include "pipelines/runs/trained_run.h"

namespace voxshard {

/// Errors: kUsage for an output that is no .json or would overwrite the input, or another post-processing than those there
/// are; kInput, kNoCase, kCheckpoint, kBudget (before anything is written), kOutput.
PredictReport predict_detections(const PredictOptions& options, TrainedRun run, Progress& progress);

}  // namespace voxshard
