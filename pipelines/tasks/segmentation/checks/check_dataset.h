// Checks a data set folder: one parallel pass over the cases takes their facts, then the rules (check_rules.h) judge
// the facts. The inputs are only read.
//
//   CheckReport r = check_dataset({.dataset = "Dataset001", .deep = true, .output = "checked"}, context);
//   r.findings[0].code;      // "W_VOLUME"; checked/001_W_VOLUME.png shows it
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "pipelines/engine/run_context.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/tasks/segmentation/checks/check_rules.h"
#include "pipelines/tasks/segmentation/dataset/dataset_source.h"

namespace voxshard {

struct CheckDatasetOptions {
  std::filesystem::path dataset;
  bool deep = false;                         // true: every voxel of the images is read
  std::filesystem::path output;              // folder for findings.json, findings.csv and images; may be empty
  std::filesystem::path csv;                 // file for the findings; may be empty
  VolumeFormats formats = volume_formats();  // limits.memory_bytes is for all cases in flight together; 0: no limit
  DatasetSource source = {};                 // where cases come from; its folder is `dataset`
  bool resamples_channels = false;           // channels on grids of their own are no finding
};

struct CheckReport {
  std::filesystem::path dataset, output;
  std::string kind;            // "nnU-Net v2"
  int training = 0, test = 0;  // cases that were checked
  bool deep = false, is_ct = false;
  std::vector<Finding> findings;     // by case
  std::vector<std::string> skipped;  // codes of the rules that did not run
  int odd_cases = 0;                 // cases with a finding
  ProcessPlan memory;                // of the cases in flight at the peak
};

/// Checks the data set; writes the files that are asked for, each whole or not at all. The processes of a run divide
/// the cases; all get the report, and the first process writes the files, which have the same bytes for any number of
/// processes (names of images are in its report alone). Errors: kInput and kNoCase as
/// read_dataset; kUsage for an output inside of the data set; kOutput; Stopped.
CheckReport check_dataset(const CheckDatasetOptions& options, const RunContext& context);

nlohmann::ordered_json to_json(const CheckReport& report);
std::string to_text(const CheckReport& report);
/// Returns the findings as CSV with a heading: case, code, classes, what, next, other, picture.
std::string csv_of(const CheckReport& report);

}  // namespace voxshard
