// The page of a run, report.html: one file with everything in it, for any browser, without a network. `train` writes it
// at each validation and at its end; `voxshard report` writes it again, and for several runs a page that compares them.
//
//   write_report_page({"run"}, "run/report.html");
//   write_report_page({"run_a", "run_b"}, "both.html");
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "pipelines/report_page/html_page.h"
#include "pipelines/report_page/run_data.h"

namespace voxshard {

/// The most runs of a page, each with a colour of its own.
inline constexpr std::size_t kMostComparedRuns = 8;

/// Returns the HTML of a page. The JSON of to_json(RunData) of each run stands in it once, as {"format", "runs"} in the
/// element with the id report-data; tables hold the numbers that they show as data-value. Text from files is escaped.
std::string report_page(std::span<const RunData> runs);

/// Reads the runs and writes the page, whole or not at all. Returns what it shows. Errors: kUsage for no run or more
/// than kMostComparedRuns, kInput and kCheckpoint as read_run_data(), kOutput, also for a page above kMostPageBytes.
std::vector<RunData> write_report_page(const std::vector<std::filesystem::path>& runs,
                                       const std::filesystem::path& file);

}  // namespace voxshard
