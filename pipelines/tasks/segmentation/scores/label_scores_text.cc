// The table of a LabelScores for people.
#include <algorithm>

#include "libcore/base/text.h"
#include "pipelines/engine/seen_inputs.h"
#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"

namespace voxshard {
namespace {

/// Returns the lines that state the chosen rules; empty when nothing was chosen.
std::string rules_text(const LabelScores& r) {
  std::string text = r.states_counts() ? "in brackets: the cases in the mean" : "";
  if (r.partly_annotated)
    text +=
        "; where a class was not annotated it has no score; all cases: as if it had been, so that what is found there "
        "is wrong";
  if (std::ranges::any_of(r.scored, [](const ScoredClass& one) { return !one.in_mean; }))
    text += std::string(text.empty() ? "" : "; ") + "the regions asked for are not in the mean of the classes";
  if (!r.states_rules) return text.empty() ? "" : text + "\n";
  text += "; empty classes by rule " + std::string(r.rules.empty->name) + " (" + r.rules.empty->text + ")\n";
  if (any_of_surfaces(r.rules.metrics))
    text += "surfaces: " + std::string(r.rules.surface.convention->name) + ", " + r.rules.surface.convention->rule +
            "; tolerance " + number_text(r.rules.surface.tolerance_mm) + " mm\n";
  return text;
}

}  // namespace

std::string to_text(const LabelScores& r) {
  const bool baseline = r.baseline_mean_dice.has_value();
  const auto with_scores = [&](const std::string& name, const std::vector<double>& means,
                               const std::vector<std::size_t>& cases) {
    std::vector<std::string> row = {name};
    for (std::size_t m = 0; m < means.size(); ++m) {
      row.push_back(fixed_text(means[m], r.rules.metrics[m].shown.digits));
      if (r.states_counts() && m < cases.size()) row.back() += " (" + std::to_string(cases[m]) + ")";
    }
    return row;
  };
  std::vector<std::vector<std::string>> rows = {{"class"}};
  for (const LabelMetric& metric : r.rules.metrics) rows[0].push_back(heading_of(metric.shown));
  if (baseline) rows[0].insert(rows[0].end(), {"threshold Dice", "best HU range"});
  for (const auto& c : r.classes) {
    rows.push_back(with_scores(c.scored.shown_name(), c.means, c.cases));
    if (!c.baseline_dice) continue;
    const auto& t = r.thresholds[c.scored.id];
    rows.back().insert(rows.back().end(),
                       {fixed_text(*c.baseline_dice), std::to_string(t.low_hu) + " to " + std::to_string(t.high_hu)});
  }
  rows.push_back(with_scores("mean", r.means, {}));
  if (baseline) rows.back().push_back(fixed_text(*r.baseline_mean_dice));
  for (const auto& c : r.classes)
    if (c.annotated < r.cases.size())
      rows.push_back(with_scores(c.scored.shown_name() + ", all cases", c.all_means, {}));
  if (r.partly_annotated) rows.push_back(with_scores("mean, all cases", r.all_means, {}));
  std::string text = seen_text(r.seen) + text_table(rows) + rules_text(r);
  text += counted(std::ssize(r.cases), "case") + " scored, " + std::to_string(r.failures.size()) + " not";
  constexpr std::size_t kMostNamed = 8;  // the log has them all with their reasons
  for (std::size_t i = 0; i < std::min(kMostNamed, r.failures.size()); ++i)
    text += (i == 0 ? ": " : ", ") + r.failures[i].id + " (" + r.failures[i].code + ")";
  return text + (r.failures.size() > kMostNamed ? ", ...\n" : "\n");
}

}  // namespace voxshard
