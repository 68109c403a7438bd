// The scores of several runs with mean and spread, such as those of folds or seeds: a table of the page, and the same
// numbers for `report`.
//
//   const ScoreSpread spread = spread_of_runs(runs);      // of the best validation of each
//   html += spread_section(runs);
#pragma once

#include <span>
#include <string>

#include "pipelines/model_runs/score_spread.h"
#include "pipelines/report_page/run_data.h"

namespace voxshard {

/// Returns the scores of the best validation of each run, by class and over the classes; empty where none was
/// validated.
ScoreSpread spread_of_runs(std::span<const RunData> runs);

/// Returns the section with them; empty for a single run, and where none was validated.
std::string spread_section(std::span<const RunData> runs);

}  // namespace voxshard
