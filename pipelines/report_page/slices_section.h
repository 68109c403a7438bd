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

/// Returns the classes as the script colours them, for the legend; the first is class 1.
std::string classes_legend(const std::vector<std::string>& classes);
/// Returns the canvases of the planes of a case, each with a slider that begins at the plane "start", or in the middle.
///   item  the number of the case in slices.cases of the page's data
std::string plane_figures(std::size_t item, const nlohmann::ordered_json& planes);

}  // namespace voxshard
