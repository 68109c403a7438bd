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
  const ValidationData* last = run.better_of_last();
  if (last == nullptr || !run.higher_is_better) return {};
  std::vector<ScoresOfClass> classes;
  for (std::size_t c = 0; c < run.classes.size(); ++c) {
    classes.push_back({run.classes[c], last->by_class[c]});
    for (const CaseData& item : last->cases) classes.back().by_case.push_back(item.by_class[c]);
  }
  return missed_classes(classes, {.metric = run.metric});
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
