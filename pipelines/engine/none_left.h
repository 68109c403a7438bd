// The error of a command that could use none of its inputs.
//
//   if (report.cases.empty()) throw Error(kind_of_none(report.failures), "[predict] none of 3 images ...");
#pragma once

#include <algorithm>

#include "pipelines/model_runs/report.h"

namespace voxshard {

/// Returns kBudget when every input was left out because of the memory that it takes, so that more memory would do;
/// else kNoCase.
inline ErrorKind kind_of_none(const std::vector<CaseFailure>& failures) {
  const bool of_budget =
      !failures.empty() && std::ranges::all_of(failures, [](const CaseFailure& f) { return f.code == "E_BUDGET"; });
  return of_budget ? ErrorKind::kBudget : ErrorKind::kNoCase;
}

}  // namespace voxshard
