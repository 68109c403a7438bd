// Scores of classification: predictions against a data set with classes. Accuracy, top-k, confusion, the metrics of a
// table for each class, calibration, beside the accuracy of who always says the commonest class.
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
  bool intensity_baseline = false;    // scores also a logistic model on the mean of each channel
  std::filesystem::path dataset;      // whose training part that model learns from; empty: of `references`
  SeenInputs seen = {};               // of the predictions what the run was trained on
  std::int64_t top_k = 5;
  std::int64_t most_pixels = kMostPixels;
  int threads = 1;  // that read items for the model on intensities
  VolumeFormats formats = volume_formats();
  ClassKinds kinds = class_kinds();
  ClassMetrics metrics = class_metrics();
};

/// What a logistic model on the mean intensity of each channel reaches on the same items (intensity_baseline.h).
struct IntensityScores {
  std::int64_t trained = 0;                       // items that it learnt from
  std::int64_t asked = 0;                         // items that it is scored on: those that can be read
  double accuracy = 0;                            // of the fit in which every item counts alike
  double mean_recall = 0, balanced_accuracy = 0;  // of the one in which every class does
  // Items that are scored but cannot be read, and those of the training part that do not train.
  std::vector<CaseFailure> failures, training_failures;
  ProcessPlan memory = {};  // while the items were looked at
};

struct ClassReport {
  std::vector<std::string> classes;
  std::int64_t items = 0;
  SeenInputs seen;                                                 // of what is scored: by item, of clips by video
  double accuracy = 0, top_k_accuracy = 0, majority_accuracy = 0;  // majority: of the commonest class of the references
  std::int64_t top_k = 5;
  std::vector<RecallAndPrecision> scores;  // by class
  ClassMetrics metrics;
  std::vector<std::vector<double>> by_class;  // of each metric; NaN where a class is absent
  std::vector<double> means;                  // of each metric, over the classes that have a number
  std::vector<std::int64_t> confusion;        // (classes, classes)
  Calibration calibration;
  std::optional<ClipScores> clips = {};  // of time lines; what stands above is then of the clips of the references
  std::optional<IntensityScores> intensities;
  std::vector<CaseFailure>
      failures;  // items that are not scored: without a prediction, of a class that training never saw
};

/// Whether something is left out of a score, be it that of the model on mean intensities.
inline bool is_partial(const ClassReport& report) {
  return !report.failures.empty() || (report.intensities && !report.intensities->failures.empty());
}

/// Of time lines clip by clip, as matched_clips() says. Errors: kUsage for a baseline without training items; kInput,
/// kNoCase as the readers; kNoCase when no item has both; kOutput, kUsage for the outputs.
ClassReport evaluate_classes(const EvaluateClassesOptions& options, Progress& progress);
nlohmann::ordered_json to_json(const ClassReport& report);
std::string to_text(const ClassReport& report);

}  // namespace voxshard
