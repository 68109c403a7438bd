// `voxshard report`: writes the page of a run again, one that compares several runs, or the contact sheet of a folder
// of predicted volumes.
//
//   TaskReport report = run_report({.runs = {"run"}}, progress, task_table());             // run/report.html
//   run_report({.runs = {"run_a", "run_b"}, .file = "both.html"}, progress, task_table());
//   run_report({.runs = {"pred"}, .images = "data/imagesTs"}, progress, task_table());     // pred/report.html
#pragma once

#include <filesystem>
#include <vector>

#include "pipelines/tasks/table/task_table.h"

namespace voxshard {

struct ReportOptions {
  std::vector<std::filesystem::path> runs;  // run folders, or one folder of predictions
  std::filesystem::path file = {};          // empty: report.html in the folder of the one run, or of the predictions
  std::filesystem::path images = {};        // what the predictions were made of; empty: what they lead to
};

/// Writes the page and returns what it shows, in numbers and words. A run that is going on may be reported too. Errors:
/// kUsage for several runs without a file, for images of a run, and for predictions without a sheet; kOutput and kUsage
/// as require_output_file(); as write_report_page() and Task::contact_sheet().
TaskReport run_report(const ReportOptions& options, Progress& progress, const TaskTable& tasks = task_table());

}  // namespace voxshard
