#include "pipelines/tasks/segmentation/scores/missed_labels.h"

namespace voxshard {

std::vector<std::string> missed_classes(const LabelScores& scores) {
  const auto& metric = scores.rules.metrics.front().shown;
  if (!metric.higher_is_better || *metric.unit != '\0') return {};
  std::vector<ScoresOfClass> classes;
  for (const ClassMean& c : scores.classes) {
    classes.push_back({c.scored.shown_name(), c.means.front()});
    for (const EvaluatedCase& one : scores.cases)
      classes.back().by_case.push_back(one.scores.classes.at(c.scored.id).scores.at(metric.name));
  }
  return missed_classes(classes, {.metric = metric.key, .unscored = ""});
}

}  // namespace voxshard
