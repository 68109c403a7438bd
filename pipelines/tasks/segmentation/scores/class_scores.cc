#include "pipelines/tasks/segmentation/scores/class_scores.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace voxshard {
namespace {

/// Spacing along D, H, W.
GridSpacing grid_spacing(const Geometry& geometry) {
  return {geometry.spacing[2], geometry.spacing[1], geometry.spacing[0]};
}

int one_past_highest(const std::vector<ScoredClass>& scored, int classes) {
  for (const ScoredClass& one : scored)
    for (const int label : one.labels) classes = std::max(classes, label + 1);
  return classes;
}

/// Returns the box that holds a class or region.
Box box_of(const ScoredClass& item, const std::vector<Box>& boxes) {
  std::vector<Box> parts;
  for (const int label : item.labels) parts.push_back(boxes.at(label));
  return box_around(parts);
}

}  // namespace

std::map<int, ClassScores> score_classes(const Volume& prediction, const Volume& reference, const ScoredLabels& labels,
                                         const ScoringRules& rules) {
  const TensorView mine = prediction.voxels.view(), truth = reference.voxels.view();
  const std::vector<ScoredClass> scored =
      labels.scored.empty() ? scored_classes({.classes = labels.classes}) : labels.scored;
  const std::vector<ClassCounts> counts = count_classes(mine, truth, labels.classes, labels.ignored);
  const bool surfaces = any_of_surfaces(rules.metrics);
  const std::vector<Box> boxes =
      surfaces ? class_boxes(mine, truth, one_past_highest(scored, labels.classes), labels.ignored)
               : std::vector<Box>();
  const GridSpacing spacing_mm = grid_spacing(reference.geometry);
  std::map<int, ClassScores> scores;
  for (const ScoredClass& item : scored) {
    ClassScores& one = scores[item.id];
    one.annotated = item.is_annotated(labels.annotated);
    for (const LabelMetric& metric : rules.metrics) one.scores[metric.shown.name] = std::nan("");
    if (!one.annotated) continue;
    const LabelSet set(item.labels);
    const ClassCounts n = item.is_region ? count_region(mine, truth, set, labels.ignored) : counts[item.labels.front()];
    SurfaceDistances distances;
    if (surfaces) {
      const Box box = box_of(item, boxes);
      distances = surface_distances(class_mask(mine, box, set, truth, labels.ignored),
                                    class_mask(truth, box, set, truth, labels.ignored), spacing_mm, rules.surface);
    }
    const ComparedClass compared{.counts = n,
                                 .voxel_mm3 = spacing_mm[0] * spacing_mm[1] * spacing_mm[2],
                                 .surfaces = &distances,
                                 .empty = rules.empty};
    one.tp = n.tp, one.fp = n.fp, one.fn = n.fn, one.tn = n.tn;
    for (const LabelMetric& metric : rules.metrics) one.scores[metric.shown.name] = metric.shown.of(compared);
  }
  return scores;
}

nlohmann::ordered_json class_scores_message(const std::map<int, ClassScores>& scores, const LabelMetrics& metrics) {
  nlohmann::ordered_json message = nlohmann::ordered_json::array();
  for (const auto& [label, s] : scores) {
    std::vector<double> values;
    for (const LabelMetric& metric : metrics) values.push_back(s.scores.at(metric.shown.name));
    message.push_back({label, s.tp, s.fp, s.fn, s.tn, values, s.annotated});
  }
  return message;
}

std::map<int, ClassScores> class_scores_of(const nlohmann::ordered_json& message, const LabelMetrics& metrics) {
  std::map<int, ClassScores> scores;
  for (const auto& c : message) {
    ClassScores& one = scores[c.at(0).get<int>()];
    c.at(1).get_to(one.tp), c.at(2).get_to(one.fp), c.at(3).get_to(one.fn), c.at(4).get_to(one.tn);
    c.at(6).get_to(one.annotated);
    for (std::size_t m = 0; m < metrics.size(); ++m) c.at(5).at(m).get_to(one.scores[metrics[m].shown.name]);
  }
  return scores;
}

}  // namespace voxshard
