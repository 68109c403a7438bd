// `voxshard demo`: a small nnU-Net v2 folder of generated CT phantoms (pipelines/phantom.h).
//
//   DemoReport r = run_demo({.folder = "demo", .cases = 12, .test_cases = 4}, progress);
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "pipelines/report.h"

namespace voxshard {

struct DemoOptions {
  std::filesystem::path folder;
  std::string task = "segmentation";
  int cases = 12;
  int test_cases = 4;
  std::uint64_t seed = 0;
  std::string size = "small";  // small: 48 to 80 voxels an axis; medium: twice; large: three times
  int threads = 1;
};

struct DemoReport {
  std::filesystem::path folder;
  int cases = 0, test_cases = 0;
  std::int64_t voxels = 0;
  double seconds = 0;
};

/// Writes imagesTr, labelsTr, imagesTs, labelsTs and dataset.json; the same options give the same bytes.
/// Errors: kUsage for an unknown task or size or a count out of range; kOutput.
DemoReport run_demo(const DemoOptions& options, Progress& progress);
nlohmann::ordered_json to_json(const DemoReport& report);

}  // namespace voxshard
