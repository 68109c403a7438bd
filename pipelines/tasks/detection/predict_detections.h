// Predicts the objects in images by a trained detector, as COCO results: one JSON array of {image_id, category_id,
// bbox, score} with bbox [x, y, width, height] in pixels of the file's upright image.
//
//   PredictReport r = predict_detections({.input = "coco/val.json", .output = "found.json"}, {}, run, context);
//
// Images of a COCO JSON keep their ids; those of a folder are numbered 1, 2, ... by name, and each
// result then also has its "file_name".
#pragma once

#include "io/boxes/box_format.h"
#include "io/image/image.h"
#include "pipelines/engine/requests.h"
#include "pipelines/engine/run_context.h"
#include "pipelines/tasks/detection/dataset/frame_choice.h"
#include "pipelines/tasks/detection/predict_video.h"

namespace voxshard {

struct DetectionPrediction {
  std::filesystem::path draw;              // a folder for PNGs with boxes, or for a video input a video; empty: none
  std::int64_t most_pixels = kMostPixels;  // of an image or frame; larger ones are left out
  std::string postprocess = "auto";  // "detection", "legacy", "legacy_export", or as the model's variant is evaluated
  double min_score = 0;              // less likely boxes are in no output; 0: all that the post-processing keeps
  bool keep_names = false;           // images in folders are called by their paths
  FrameChoice frames;                // for videos
  VideoPrediction video;             // for a video, whose `output` is the JSON of io/boxes/frame_results.h
  BoxFormats formats = box_formats();
};

/// Predicts all images of the input, or one video. Errors: kUsage for an output that is no .json or would overwrite the
/// input, or an unknown post-processing; kInput, kNoCase, kCheckpoint, kBudget (before anything is written), kOutput.
PredictReport predict_detections(const PredictOptions& options, const DetectionPrediction& detection, TrainedRun run,
                                 const RunContext& context);

}  // namespace voxshard
