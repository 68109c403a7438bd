// `voxshard demo`: a small nnU-Net v2 folder of generated CT phantoms (pipelines/phantoms/phantom.h), or a COCO set of generated
// pictures (pipelines/commands/run_demo_detection.h).
//
//   DemoReport r = run_demo({.folder = "demo", .cases = 12, .test_cases = 4}, progress);
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "pipelines/runs/report.h"

namespace voxshard {

struct DemoOptions {
  std::filesystem::path folder;
  std::string task = "segmentation";  // or "detection"
  std::optional<int> cases;           // to train with; 12 phantoms or 120 pictures
  std::optional<int> test_cases;      // held out; 4 phantoms or 30 pictures
  std::uint64_t seed = 0;
  std::string size = "small";  // 48 to 80 voxels or 160 to 256 pixels an axis; medium: twice; large: three times
  int threads = 1;
};

struct DemoReport {
  std::filesystem::path folder;
  std::string task;
  int cases = 0, test_cases = 0;
  std::int64_t voxels = 0;  // or pixels
  double seconds = 0;
};

/// Writes imagesTr, labelsTr, imagesTs, labelsTs and dataset.json; the same options give the same bytes. For "detection"
/// see run_demo_detection.
/// Errors: kUsage for an unknown task or size or a count out of range; kOutput.
DemoReport run_demo(const DemoOptions& options, Progress& progress);
nlohmann::ordered_json to_json(const DemoReport& report);

/// "phantom_007".
std::string demo_id(int index);

}  // namespace voxshard
