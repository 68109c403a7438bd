// What the scores of a validation say, in words: classes that were missed, the worst and the best cases.
//
//   for (const std::string& line : missed_classes(run)) ...      // "Cord: dice 0.000 in 3 of 3 cases"
#pragma once

#include <string>
#include <vector>

#include "pipelines/model_runs/missed_classes.h"
#include "pipelines/report_page/run_data.h"

namespace voxshard {

/// Returns what the last validation missed, as missed_classes() of its scores says it. None for a metric of which lower
/// is better.
std::vector<std::string> missed_classes(const RunData& run);

/// In how many cases a class has a score, and in how many of them it is below kMissedBelow.
struct ClassCases {
  std::int64_t scored = 0, missed = 0;
  const CaseData* worst = nullptr;  // null when no case has a score
};
ClassCases cases_of_class(const ValidationData& validation, std::size_t c, bool higher_is_better);

/// Returns the cases, the worst mean first; those without a score are left out.
std::vector<const CaseData*> worst_first(const ValidationData& validation, bool higher_is_better);

/// "step 400, averaged weights".
std::string title_of(const ValidationData& validation);

}  // namespace voxshard
