// The report of `voxshard info` about a run folder: its model, data, settings, scores and checkpoints, from the JSON
// files in it; no tensor is read.
//
//   if (is_run_folder(path)) report.set("runs").add(describe_run(path));
#pragma once

#include "pipelines/commands/run_status.h"

namespace voxshard {

struct RunCheckpoint {
  std::string name;  // "best.safetensors"
  std::int64_t step = 0, bytes = 0;
};

struct RunDescription {
  StatusReport status;
  nlohmann::json record;       // run.json
  nlohmann::json preparation;  // of plans.json; null before it is written
  std::vector<RunCheckpoint> checkpoints;
};

/// Errors: as run_status(); kInput when a file of the run is damaged.
RunDescription describe_run(const std::filesystem::path& run);

nlohmann::ordered_json to_json(const RunDescription& run);
std::string to_text(const RunDescription& run);

}  // namespace voxshard
