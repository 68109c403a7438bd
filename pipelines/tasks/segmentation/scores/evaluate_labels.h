// Scores of segmentation: label maps of one folder against the references of another, matched by file name. The metrics
// of a table, Dice and IoU unless others are chosen, are given per class and case in nnU-Net's summary.json (both maps
// empty: NaN, left out of means, unless another rule is chosen), optionally beside the best HU threshold and with an
// image of slices. Regions, unions of classes, are scored like classes. Where a data set says which classes were
// annotated in a case, the others have no score there.
//
// The references may be a tree of DICOM studies, whose segmentations and structure sets are drawn on their images as
// `prepare` draws them; the file of names that `predict` wrote says which case a prediction is of.
//
//   LabelScores r = evaluate_labels({.predictions = "pred", .references = "data/labelsTs", .dataset = "data"},
//   context);
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "io/datasets/summary.h"
#include "io/volume/volume.h"
#include "pipelines/engine/run_context.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/model_runs/trained_on.h"
#include "pipelines/tasks/segmentation/scores/class_scores.h"
#include "pipelines/tasks/segmentation/scores/threshold_baseline.h"

namespace voxshard {

struct EvaluateLabelsOptions {
  std::filesystem::path predictions, references;
  std::filesystem::path classes;                    // class map: `references` is a tree of DICOM studies; may be empty
  std::filesystem::path dataset;                    // class names, images; or what `prepare` wrote; may be empty
  std::filesystem::path summary;                    // summary.json to write; may be empty
  std::filesystem::path png;                        // contact sheet; needs `dataset` for the images; may be empty
  SeenInputs seen = {};                             // the predictions of inputs that the run was trained on
  std::vector<std::filesystem::path> further = {};  // more folders of predictions, each of other cases
  bool threshold_baseline = false;                  // needs `dataset`
  VolumeFormats formats = volume_formats();    // limits.memory_bytes is for all cases in flight together; 0: no limit
  OverlapMetrics metrics = overlap_metrics();  // those that are shown when no key is given
  std::vector<std::string> metric_keys = {};   // "hd95": the metrics to show, of all_label_metrics(metrics)
  SurfaceOptions surface = {};                 // how their distances are measured
  const EmptyRule* empty = &empty_rules().front();
  std::vector<LabelRegion> regions = {};                 // scored beside the classes
  IrregularSlices irregular = IrregularSlices::kReject;  // of the images of a tree

  /// True when results state what was chosen, and over how many cases each mean is.
  bool states_rules() const { return !metric_keys.empty() || empty != &empty_rules().front(); }
};

struct EvaluatedCase {
  std::string id;
  CaseScores scores;
  // the scores as if every class had been annotated; empty where that is so
  std::map<int, ClassScores> all_classes = {};
  std::vector<double> baseline_dice;    // by class; empty without baseline
  std::vector<std::string> notes = {};  // about structures of the reference; each begins with its code
};

struct ClassMean {
  ScoredClass scored;
  std::vector<double> means = {};       // by metric, over the cases, NaN left out
  std::vector<std::size_t> cases = {};  // by metric, the cases in the mean
  std::size_t annotated = 0;            // cases in which it was annotated
  std::vector<double> all_means = {};   // by metric, as if it had been annotated in every case
  std::optional<double> baseline_dice = std::nullopt;
};

struct LabelScores {
  ScoringRules rules;
  bool states_rules = false;
  std::vector<ScoredClass> scored;   // classes and regions
  std::vector<EvaluatedCase> cases;  // sorted by id
  std::vector<ClassMean> classes;    // of `scored`
  bool partly_annotated = false;     // true: a class was not annotated in every case
  std::vector<double> means;         // by metric, over the foreground classes, or the data set's regions
  std::vector<double> all_means;     // the same as if every class had been annotated in every case
  std::optional<double> baseline_mean_dice;
  std::vector<ThresholdInterval> thresholds;  // by class; empty without baseline
  SeenInputs seen;                            // the scored cases that the run was trained on
  std::vector<CaseFailure> failures;          // a missing or unusable prediction, or one that memory does not hold
  ProcessPlan memory;                         // of the cases in flight at the peak

  /// True when the outputs say over how many cases each mean is.
  bool states_counts() const { return states_rules || partly_annotated; }
};

/// Scores the predictions. The processes of a run divide the cases; all get the report, and the first process writes
/// the files, which have the same bytes for any number of processes. Errors: kInput for a missing folder, and for
/// predictions without the file of names where `references` is a tree; those of read_studies() then; kNoCase when
/// no pair can be scored, kUsage when an option needs `dataset` or a key is that of no metric, kBudget when memory does
/// not hold the image, kOutput. Memory: the volumes of the cases in flight; of the others their numbers alone.
LabelScores evaluate_labels(const EvaluateLabelsOptions& options, const RunContext& context);
nlohmann::ordered_json to_json(const LabelScores& report);
std::string to_text(const LabelScores& report);

}  // namespace voxshard
