// `voxshard predict`: label maps for new images by a trained run, whole volumes at full resolution, partitioned. What it
// needs is planned for every image before the first is predicted.
//
//   PredictReport r = run_predict({.run = "model", .input = "imagesTs", .output = "predictions"}, progress);
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "pipelines/model_spec.h"
#include "pipelines/report.h"

namespace voxshard {

struct PredictOptions {
  std::filesystem::path run;       // a run folder, or a checkpoint file
  std::filesystem::path input;     // an image, or a folder of images (nnU-Net's _0000 names or any)
  std::filesystem::path output;    // a folder; CASE.nii.gz
  std::string checkpoint = "auto"; // "best", "last" or auto: best when there is one
  std::optional<Dims> partition;   // other than that of the training
  std::optional<DType> precision;
  int threads = 1;
  std::int64_t core_budget_bytes = 0;
};

struct PredictedCase {
  std::string id;
  std::filesystem::path file;
  double seconds = 0;
};

struct PredictReport {
  std::vector<PredictedCase> cases;
  std::vector<CaseFailure> failures;  // also in quarantine.csv
  std::int64_t bytes_per_core = 0;    // of the largest image
  std::int64_t host_bytes = 0;
  bool interrupted = false;
};

/// Each label map has the geometry of its input. Errors: kUsage when the output folder is that of the images, kInput, kNoCase (no image, or every one failed), kCheckpoint,
/// kBudget (before anything is allocated or written), kOutput.
PredictReport run_predict(const PredictOptions& options, Progress& progress);
nlohmann::ordered_json to_json(const PredictReport& report);

}  // namespace voxshard
