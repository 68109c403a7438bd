// The scores of the classes and regions of one case: the counts of voxels and, where a metric reads them, the distances
// between the surfaces of the two label maps, one class at a time and within the box that holds it.
//
//   std::map<int, ClassScores> scores = score_classes(prediction, reference, {.classes = 3}, rules);
//   scores.at(1).scores.at("HD95");                            // mm
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>

#include "io/datasets/summary.h"
#include "io/volume/volume.h"
#include "libcore/metrics/surface/label_metrics.h"
#include "pipelines/tasks/segmentation/scores/scored_classes.h"

namespace voxshard {

/// The metrics, and by which definitions they are computed.
struct ScoringRules {
  LabelMetrics metrics = metrics_of(overlap_metrics());
  SurfaceOptions surface = {};
  const EmptyRule* empty = &empty_rules().front();
};

struct ScoredLabels {
  int classes = 0;                                           // with the background, which has no score
  int ignored = -1;                                          // label of reference voxels that do not count; -1: none
  std::vector<ScoredClass> scored = {};                      // empty: the classes 1 .. classes - 1
  std::optional<std::vector<int>> annotated = std::nullopt;  // none: all classes
};

/// Returns the scores of each class and region, by its id; those that are not annotated have NaN alone. The spacing is
/// that of the reference.
///   prediction, reference  label maps on the same grid
/// Errors: kInput for unequal extents.   Memory: surface_bytes() of the largest class where a metric reads surfaces.
std::map<int, ClassScores> score_classes(const Volume& prediction, const Volume& reference, const ScoredLabels& labels,
                                         const ScoringRules& rules);

/// Serialises the scores for the other processes, and parses them there.
nlohmann::ordered_json class_scores_message(const std::map<int, ClassScores>& scores, const LabelMetrics& metrics);
std::map<int, ClassScores> class_scores_of(const nlohmann::ordered_json& message, const LabelMetrics& metrics);

}  // namespace voxshard
