// The objects in images by a trained detector, as COCO results: one JSON array of {image_id, category_id, bbox, score}
// with bbox [x, y, width, height] in pixels of the file's upright image.
//
//   PredictReport r = predict_detections({.input = "coco/val.json", .output = "found.json"}, {}, run, context);
//
// Images of a COCO JSON keep their ids; those of a folder are numbered 1, 2, ... by name, and each
// result then says its "file_name" too.
#pragma once

#include "io/boxes/box_format.h"
#include "io/image/image.h"
#include "pipelines/engine/requests.h"
#include "pipelines/engine/run_context.h"
#include "pipelines/tasks/detection/dataset/frame_choice.h"
#include "pipelines/tasks/detection/predict_video.h"

namespace voxshard {

struct DetectionPrediction {
  std::filesystem::path draw;              // a folder for PNGs with boxes, of a video a video; empty: none
  std::int64_t most_pixels = kMostPixels;  // of an image or frame; what has more is left out
  std::string postprocess = "auto";  // "detection", "legacy", "legacy_export", or as the model's variant is evaluated
  FrameChoice frames;                // of what are videos
  VideoPrediction video;             // of a video, whose `output` is io/boxes/frame_results.h's JSON
  BoxFormats formats = box_formats();
};

/// Errors: kUsage for an output that is no .json or would overwrite the input, or another post-processing than those
/// there are; kInput, kNoCase, kCheckpoint, kBudget (before anything is written), kOutput.
PredictReport predict_detections(const PredictOptions& options, const DetectionPrediction& detection, TrainedRun run,
                                 const RunContext& context);

}  // namespace voxshard
