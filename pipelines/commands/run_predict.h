// `voxshard predict`: label maps for new volumes, or the objects in new pictures, by a trained run; whole inputs at full
// resolution, partitioned. What it needs is planned for every input before the first is predicted.
//
//   PredictReport r = run_predict({.run = "model", .input = "imagesTs", .output = "predictions"}, progress);
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "io/volume/volume.h"
#include "pipelines/runs/model_spec.h"
#include "pipelines/runs/report.h"
#include "pipelines/tasks/detection/predict_video.h"

namespace voxshard {

struct PredictOptions {
  std::filesystem::path run;       // a run folder, or a checkpoint file
  std::filesystem::path input;     // an image, or a folder of images (nnU-Net's _0000 names or any); pictures also as COCO JSON
  std::filesystem::path output;    // a folder of volumes in the first format. Of a detector a file of COCO results
  std::string checkpoint = "auto"; // "best", "last" or auto: best when there is one
  std::optional<Dims> partition;   // other than that of the training
  std::optional<DType> precision;
  int threads = 1;
  std::int64_t core_budget_bytes = 0;
  std::filesystem::path draw;        // of a detector: a folder for PNGs with boxes; empty: none
  std::string postprocess = "auto";  // of a detector: "detection", "legacy", "legacy_export", or as its variant is evaluated
  VolumeFormats formats = volume_formats();
  VideoPrediction video;             // of a detector on a video, whose `output` is io/boxes/frame_results.h's JSON and `draw` a video
};

struct PredictedCase {
  std::string id;
  std::filesystem::path file;
  double seconds = 0;
};

struct PredictReport {
  std::vector<PredictedCase> cases;
  std::vector<CaseFailure> failures;  // also in quarantine.csv
  std::int64_t bytes_per_core = 0;    // of the largest image
  std::int64_t host_bytes = 0;
  std::int64_t detections = -1;       // objects found in all; -1: not a detector
  std::optional<VideoPredictReport> video;  // when the input is one
  bool interrupted = false;
};

/// Each label map has the geometry of its input; for pictures see predict_detections.h. Errors: kUsage when the output folder is
/// that of the images or an option is not one of the run's model, kInput, kNoCase (no image, or every one failed), kCheckpoint,
/// kBudget (before anything is allocated or written), kOutput.
PredictReport run_predict(const PredictOptions& options, Progress& progress);
nlohmann::ordered_json to_json(const PredictReport& report);

}  // namespace voxshard
