// The slices of a page: three planes of the worst and the best validated cases with a slider each, the prediction
// filled, the reference outlined, windowed by dragging. The script of the page draws them from slices.json.
//
//   run.slices = read_slices("run");
//   html += slices_section(run);
#pragma once

#include <filesystem>
#include <string>

#include "pipelines/report_page/run_data.h"

namespace voxshard {

/// The file of a run folder that holds the slices of its last validation.
inline constexpr const char* kSlicesFile = "slices.json";

/// Returns the slices as {"step", "cases"}; null when the run has none or the file is not of that form. Errors: kInput
/// for a file that cannot be parsed.
nlohmann::ordered_json read_slices(const std::filesystem::path& run);

/// Empty without slices.
std::string slices_section(const RunData& run);

}  // namespace voxshard
