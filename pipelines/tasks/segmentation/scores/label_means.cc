#include "pipelines/tasks/segmentation/scores/label_means.h"

#include <algorithm>
#include <cmath>

namespace voxshard {
namespace {

std::size_t count_numbers(const std::vector<double>& values) {
  return static_cast<std::size_t>(std::ranges::count_if(values, [](double value) { return !std::isnan(value); }));
}

/// Returns the mean Dice of the threshold baseline; none for a region and without a baseline.
std::optional<double> mean_baseline(const LabelScores& report, const ScoredClass& scored) {
  std::vector<double> values;
  for (const EvaluatedCase& item : report.cases)
    if (!item.baseline_dice.empty() && !scored.is_region) values.push_back(item.baseline_dice.at(scored.id));
  return values.empty() ? std::nullopt : std::optional(nan_mean(values));
}

ClassMean mean_of(const LabelScores& report, const ScoredClass& scored) {
  ClassMean mean{.scored = scored, .baseline_dice = mean_baseline(report, scored)};
  for (const EvaluatedCase& item : report.cases) mean.annotated += item.scores.classes.at(scored.id).annotated;
  for (const LabelMetric& metric : report.rules.metrics) {
    std::vector<double> by_case, by_all;
    for (const EvaluatedCase& item : report.cases) {
      by_case.push_back(item.scores.classes.at(scored.id).scores.at(metric.shown.name));
      by_all.push_back(item.all_classes.empty() ? by_case.back()
                                                : item.all_classes.at(scored.id).scores.at(metric.shown.name));
    }
    mean.means.push_back(nan_mean(by_case));
    mean.cases.push_back(count_numbers(by_case));
    mean.all_means.push_back(nan_mean(by_all));
  }
  return mean;
}

}  // namespace

void add_means(LabelScores& report) {
  for (const ScoredClass& scored : report.scored) {
    report.classes.push_back(mean_of(report, scored));
    report.partly_annotated |= report.classes.back().annotated < report.cases.size();
  }
  for (std::size_t m = 0; m < report.rules.metrics.size(); ++m) {
    std::vector<double> by_class, by_all;
    for (const ClassMean& one : report.classes)
      if (one.scored.in_mean) by_class.push_back(one.means[m]), by_all.push_back(one.all_means[m]);
    report.means.push_back(nan_mean(by_class));
    report.all_means.push_back(nan_mean(by_all));
  }
  std::vector<double> baselines;
  for (const ClassMean& one : report.classes)
    if (one.baseline_dice) baselines.push_back(*one.baseline_dice);
  if (!baselines.empty()) report.baseline_mean_dice = nan_mean(baselines);
}

}  // namespace voxshard
