#include "pipelines/tasks/segmentation/scores/class_scores.h"

#include <nlohmann/json.hpp>

namespace voxshard {
namespace {

/// Spacing along D, H, W.
GridSpacing grid_spacing(const Geometry& geometry) {
  return {geometry.spacing[2], geometry.spacing[1], geometry.spacing[0]};
}

}  // namespace

std::map<int, ClassScores> score_classes(const Volume& prediction, const Volume& reference, const ScoredLabels& labels,
                                         const ScoringRules& rules) {
  const TensorView mine = prediction.voxels.view(), truth = reference.voxels.view();
  const std::vector<ClassCounts> counts = count_classes(mine, truth, labels.classes, labels.ignored);
  const bool surfaces = any_of_surfaces(rules.metrics);
  const std::vector<Box> boxes =
      surfaces ? class_boxes(mine, truth, labels.classes, labels.ignored) : std::vector<Box>();
  const GridSpacing spacing_mm = grid_spacing(reference.geometry);
  std::map<int, ClassScores> scores;
  for (int c = 1; c < labels.classes; ++c) {
    const ClassCounts& n = counts[static_cast<std::size_t>(c)];
    SurfaceDistances distances;
    if (surfaces) {
      const Box& box = boxes[static_cast<std::size_t>(c)];
      distances = surface_distances(class_mask(mine, box, c, truth, labels.ignored),
                                    class_mask(truth, box, c, truth, labels.ignored), spacing_mm, rules.surface);
    }
    const ComparedClass compared{.counts = n,
                                 .voxel_mm3 = spacing_mm[0] * spacing_mm[1] * spacing_mm[2],
                                 .surfaces = &distances,
                                 .empty = rules.empty};
    ClassScores& one = scores[c];
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
    message.push_back({label, s.tp, s.fp, s.fn, s.tn, values});
  }
  return message;
}

std::map<int, ClassScores> class_scores_of(const nlohmann::ordered_json& message, const LabelMetrics& metrics) {
  std::map<int, ClassScores> scores;
  for (const auto& c : message) {
    ClassScores& one = scores[c.at(0).get<int>()];
    c.at(1).get_to(one.tp), c.at(2).get_to(one.fp), c.at(3).get_to(one.fn), c.at(4).get_to(one.tn);
    for (std::size_t m = 0; m < metrics.size(); ++m) c.at(5).at(m).get_to(one.scores[metrics[m].shown.name]);
  }
  return scores;
}

}  // namespace voxshard
