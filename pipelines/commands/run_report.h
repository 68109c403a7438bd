// `voxshard report`: writes the page of a run again, or one that compares several runs.
//
//   TaskReport report = run_report({.runs = {"run"}});                                  // run/report.html
//   run_report({.runs = {"run_a", "run_b"}, .file = "both.html"});
#pragma once

#include <filesystem>
#include <vector>

#include "pipelines/engine/requests.h"

namespace voxshard {

struct ReportOptions {
  std::vector<std::filesystem::path> runs;  // run folders
  std::filesystem::path file;               // empty: report.html in the folder of the one run
};

/// Writes the page and returns what it shows, in numbers and words. A run that is going on may be reported too. Errors:
/// kUsage for several runs without a file, kOutput and kUsage as require_output_file(), and as write_report_page().
TaskReport run_report(const ReportOptions& options);

}  // namespace voxshard
