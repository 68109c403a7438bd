#include "pipelines/tasks/segmentation/scores/missed_labels.h"

#include "libcore/base/text.h"
#include "libcore/metrics/dice.h"
#include "pipelines/model_runs/missed_classes.h"

namespace voxshard {
namespace {

/// The scores of a class by its annotated cases.
struct ScoresByPresence {
  std::vector<double> with;             // of the cases that have it
  std::int64_t without = 0, found = 0;  // cases that do not have it, and those of them in which it is found
};

ScoresByPresence by_presence(const LabelScores& scores, const ScoredClass& scored) {
  ScoresByPresence result;
  for (const EvaluatedCase& item : scores.cases) {
    const ClassScores& of_class = item.scores.classes.at(scored.id);
    if (!of_class.annotated) continue;
    const double score = of_class.scores.at(scores.rules.metrics.front().shown.name);
    if (of_class.tp + of_class.fn > 0)
      result.with.push_back(score);
    else
      ++result.without, result.found += of_class.fp > 0 && score < kMissedBelow;
  }
  return result;
}

/// True when a metric has a score that tells how much is right.
bool tells_hits(const Metric<ComparedClass>& metric) { return metric.higher_is_better && *metric.unit == '\0'; }

/// Returns "unscored: HD95 (mm): Larynx is in 3 cases and found in none of them: the mean leaves it out\n" for each
/// metric and class of which that is so: a mean distance without the classes that are missed looks better than it is.
std::string unscored_text(const LabelScores& scores) {
  std::string text;
  for (std::size_t m = 0; m < scores.rules.metrics.size(); ++m)
    for (const ClassMean& one : scores.classes) {
      const auto with = std::ssize(by_presence(scores, one.scored).with);
      if (one.cases.at(m) > 0 || with == 0) continue;
      text += "unscored: " + heading_of(scores.rules.metrics[m].shown) + ": " + one.scored.shown_name() + " is in " +
              counted(with, "case") + " and found in none of them" +
              (one.scored.in_mean ? ": the mean leaves it out\n" : "\n");
    }
  return text;
}

}  // namespace

std::vector<std::string> found_where_none(const LabelScores& scores) {
  const auto& metric = scores.rules.metrics.front().shown;
  std::vector<std::string> found;
  for (const ClassMean& one : scores.classes) {
    const ScoresByPresence by = tells_hits(metric) ? by_presence(scores, one.scored) : ScoresByPresence();
    if (by.found == 0) continue;
    found.push_back(one.scored.shown_name() + " in " + std::to_string(by.found) + " of " + counted(by.without, "case") +
                    " without it, which count as 0");
    if (!by.with.empty())
      found.back() += std::string("; ") + metric.key + " " + fixed_text(nan_mean(by.with), metric.digits) +
                      " in the mean of " + counted(std::ssize(by.with), "case") + " with it";
  }
  return found;
}

std::string missed_labels_text(const LabelScores& scores) {
  const auto& metric = scores.rules.metrics.front().shown;
  std::vector<ScoresOfClass> classes;
  for (const ClassMean& one : scores.classes) {
    if (!tells_hits(metric)) break;
    ScoresByPresence by = by_presence(scores, one.scored);
    if (!by.with.empty()) classes.push_back({one.scored.shown_name(), one.means.front(), std::move(by.with)});
  }
  std::string text = missed_text(missed_classes(classes, {.metric = metric.key, .unscored = ""}));
  for (const std::string& line : found_where_none(scores)) text += "found: " + line + "\n";
  return text + unscored_text(scores);
}

}  // namespace voxshard
