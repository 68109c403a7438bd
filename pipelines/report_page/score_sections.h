// The first parts of a page: the curves of loss and validation, and the scores by class and case. With several runs
// each curve has the colour of its run, and tables have a column for each.
//
//   html += curves_section(runs) + scores_section(runs);
#pragma once

#include <span>
#include <string>

#include "pipelines/report_page/run_data.h"

namespace voxshard {

/// Loss, score of the validations, and a small chart for each class, with their numbers in folded tables.
std::string curves_section(std::span<const RunData> runs);

/// Missed classes in words; scores by class of the last and the best validation; worst and best cases.
std::string scores_section(std::span<const RunData> runs);

}  // namespace voxshard
