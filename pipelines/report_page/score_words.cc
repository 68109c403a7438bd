#include "pipelines/report_page/score_words.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/text.h"
#include "pipelines/model_runs/checkpoint.h"

namespace voxshard {

ClassCases cases_of_class(const ValidationData& validation, std::size_t c, bool higher_is_better) {
  ClassCases found;
  for (const CaseData& item : validation.cases) {
    const double score = item.by_class[c];
    if (!std::isfinite(score)) continue;
    ++found.scored, found.missed += score < kMissedBelow;
    const bool worse = found.worst == nullptr ||
                       (higher_is_better ? score < found.worst->by_class[c] : score > found.worst->by_class[c]);
    if (worse) found.worst = &item;
  }
  return found;
}

std::vector<std::string> missed_classes(const RunData& run) {
  const ValidationData* last = run.last();
  if (last == nullptr || !run.higher_is_better) return {};
  struct Missed {
    double share;
    std::string text;
  };
  std::vector<Missed> missed;
  std::vector<std::string> unscored;
  for (std::size_t c = 0; c < run.classes.size(); ++c) {
    const ClassCases cases = cases_of_class(*last, c, run.higher_is_better);
    const std::string begin = run.classes[c] + ": " + run.metric + " 0.000";
    if (cases.missed > 0)
      missed.push_back({static_cast<double>(cases.missed) / static_cast<double>(cases.scored),
                        begin + " in " + std::to_string(cases.missed) + " of " + std::to_string(cases.scored) +
                            (cases.scored == 1 ? " case" : " cases")});
    else if (last->cases.empty() && last->by_class[c] < kMissedBelow)
      missed.push_back({1, begin + " over everything that validates"});
    else if (!std::isfinite(last->by_class[c]))
      unscored.push_back(run.classes[c] + ": nothing of it validates, so its score is not known");
  }
  std::ranges::stable_sort(missed, std::greater(), &Missed::share);
  std::vector<std::string> lines;
  for (Missed& one : missed) lines.push_back(std::move(one.text));
  lines.insert(lines.end(), unscored.begin(), unscored.end());
  return lines;
}

std::vector<const CaseData*> worst_first(const ValidationData& validation, bool higher_is_better) {
  std::vector<const CaseData*> cases;
  for (const CaseData& item : validation.cases)
    if (std::isfinite(item.mean())) cases.push_back(&item);
  std::ranges::stable_sort(cases, [&](const CaseData* a, const CaseData* b) {
    return higher_is_better ? a->mean() < b->mean() : a->mean() > b->mean();
  });
  return cases;
}

std::string title_of(const ValidationData& validation) {
  return "step " + std::to_string(validation.step) +
         (validation.weights == kAveragedWeights ? ", averaged weights" : "");
}

}  // namespace voxshard
