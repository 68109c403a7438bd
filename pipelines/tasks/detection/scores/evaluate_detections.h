// Scores of detection: COCO results against annotations, the twelve numbers that pycocotools prints, over
// all classes and class by class, and the precision-recall curves behind them; and FROC, where it is asked for.
//
//   DetectionReport r = evaluate_detections({.predictions = "found.json", .references = "truth.json"}, progress);
//   r.summary[1]      // AP50
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "io/boxes/box_format.h"
#include "libcore/metrics/average_precision.h"
#include "libcore/metrics/froc.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/model_runs/trained_on.h"
#include "pipelines/tasks/detection/dataset/frame_choice.h"

namespace voxshard {

struct EvaluateDetectionOptions {
  std::filesystem::path predictions;          // COCO results JSON
  std::filesystem::path references;           // as read_detection_dataset takes them
  std::filesystem::path summary;              // JSON to write; may be empty
  std::filesystem::path curves;               // CSV to write; may be empty
  SeenInputs seen = {};                       // the predictions of inputs that the run was trained on
  FrameChoice frames;                         // frames to score, for references that are frames of videos
  BoxFormats formats = box_formats();         // of the references
  std::vector<std::string> metric_keys = {};  // of detection_metric_names(); empty: the first
  FrocOptions froc = {};                      // its rules; the counts of images and classes are those of the references
  std::vector<std::filesystem::path> further = {};  // more results, each of other images
  std::filesystem::path froc_curves = {};           // CSV to write; may be empty; needs the metric froc
};

/// Returns the keys of the metrics: coco, froc.
const std::vector<std::string>& detection_metric_names();
/// True when the metrics of `keys` hold `key`. Errors: kUsage for a key that no metric has, or that is given twice.
bool is_chosen_metric(const std::vector<std::string>& keys, const std::string& key);

struct ClassDetectionScores {
  std::string name;
  std::int64_t id = 0, boxes = 0;  // COCO's category id; objects that count, without crowds and objects to be ignored
  CocoSummary summary{};
};

struct DetectionReport {
  bool coco = true;          // the twelve numbers are among the chosen metrics
  std::optional<Froc> froc;  // none: not asked for
  CocoSummary summary{};
  std::vector<ClassDetectionScores> classes;
  std::int64_t images = 0, boxes = 0, detections = 0;
  std::vector<std::string> names = {};  // of the scored images, as in `seen`
  SeenInputs seen;                      // the scored images that the run was trained on
  std::vector<CaseFailure> failures;    // entries of either file that were left out
};

/// Scores every image of the references, also those without a detection. Rows of the curves are: class, iou, recall (0
/// to 1 in 101 steps), precision, for all areas and at most 100 detections; those of FROC as froc_csv() has them.
/// Errors: kInput, kNoCase as the readers; kUsage for metrics as is_chosen_metric(), and for curves of a metric that is
/// not chosen; kOutput.   Cost: as average_precision and froc.
DetectionReport evaluate_detections(const EvaluateDetectionOptions& options, Progress& progress);
nlohmann::ordered_json to_json(const DetectionReport& report);

}  // namespace voxshard
