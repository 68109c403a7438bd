// Scores of classification: predictions against a data set with classes. Accuracy, top-k, confusion, the metrics of a
// table for each class, and calibration, beside the accuracy of always predicting the most frequent class.
//
//   ClassReport r = evaluate_classes({.predictions = "found.json", .references = "mnist"}, progress);
//   r.accuracy;
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "libcore/metrics/class_metrics.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/model_runs/trained_on.h"
#include "pipelines/tasks/classification/scores/evaluate_clips.h"

namespace voxshard {

struct EvaluateClassesOptions {
  std::filesystem::path predictions;  // as write_class_predictions writes them
  std::filesystem::path references;   // as read_unseen_classes takes them
  std::filesystem::path summary;      // JSON to write; may be empty
  std::filesystem::path png;          // confusion and calibration; may be empty
  bool intensity_baseline = false;    // true: also scores a logistic model on the mean of each channel
  std::filesystem::path dataset;      // data set whose training part that model learns from; empty: `references`
  SeenInputs seen = {};               // the predictions of items that the run was trained on
  std::vector<std::filesystem::path> further = {};  // more predictions, each of other items
  std::int64_t top_k = 5;
  std::int64_t most_pixels = kMostPixels;
  int threads = 1;  // for reading items for the intensity baseline
  VolumeFormats formats = volume_formats();
  IrregularSlices irregular = IrregularSlices::kReject;  // of volumes
  bool best_series = true;                               // as in ClassReading
  ClassKinds kinds = class_kinds();
  ClassMetrics metrics = class_metrics();
};

/// The scores of a logistic model on the mean intensity of each channel, on the same items (intensity_baseline.h).
struct IntensityScores {
  std::int64_t trained = 0;                       // items that it was fitted on
  std::int64_t asked = 0;                         // items that it is scored on: those that can be read
  double accuracy = 0;                            // of the fit in which all items count the same
  double mean_recall = 0, balanced_accuracy = 0;  // of the fit in which all classes count the same
  // Scored items that cannot be read, and items of the training part that cannot be used.
  std::vector<CaseFailure> failures, training_failures;
  ProcessPlan memory = {};  // while the items were read
};

struct ClassReport {
  std::vector<std::string> classes;
  std::int64_t items = 0;
  std::vector<std::string> names = {};  // of the scored items, for clips of their videos
  SeenInputs seen;                      // the scored items (for clips, videos) that the run was trained on
  double accuracy = 0, top_k_accuracy = 0, majority_accuracy = 0;  // majority: of the references' most frequent class
  std::int64_t top_k = 5;
  std::vector<RecallAndPrecision> scores;  // by class
  ClassMetrics metrics;
  std::vector<std::vector<double>> by_class;  // of each metric; NaN where a class is absent
  std::vector<double> means;                  // of each metric, over the classes that have a value
  std::vector<std::int64_t> confusion;        // (classes, classes)
  Calibration calibration;
  std::optional<ClipScores> clips = {};  // for time lines; the scores above are then those of the references' clips
  std::optional<IntensityScores> intensities;
  // items that are not scored: without a prediction, or of a class unknown to the training
  std::vector<CaseFailure> failures;
};

/// True when something is left out of a score, including that of the intensity baseline.
inline bool is_partial(const ClassReport& report) {
  return !report.failures.empty() || (report.intensities && !report.intensities->failures.empty());
}

/// Scores predictions; time lines are scored clip by clip (matched_clips()). Errors: kUsage for a baseline without
/// training items; kInput, kNoCase as the readers; kNoCase when no item has both a prediction and a label; kOutput,
/// kUsage for the outputs.
ClassReport evaluate_classes(const EvaluateClassesOptions& options, Progress& progress);
nlohmann::ordered_json to_json(const ClassReport& report);
std::string to_text(const ClassReport& report);

}  // namespace voxshard
