// Checkpoints of a run: parameters, optimizer state and everything that decides how training goes on, in one
// safetensors file that appears whole or not at all; a JSON of the same name beside it is for people.
//
//   RUN/checkpoints/last.safetensors  best.safetensors  step-000400.safetensors   (which:
//   pipelines/model_runs/checkpoint_folder.h)
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "libcore/runtime/core_set.h"

namespace voxshard {

struct CheckpointState {
  nlohmann::json model = nlohmann::json::object();    // ModelSpec
  nlohmann::json prepare = nlohmann::json::object();  // PreparePlan
  // settings that decide the result: optimizer, sampling, steps, seed, cases
  nlohmann::json training = nlohmann::json::object();
  nlohmann::json content = nlohmann::json::object();     // a hash of the content of each case
  nlohmann::json trained_on = nlohmann::json::object();  // TrainedOn of all cases that were trained on so far
  nlohmann::json changes;  // data changes that were accepted when the run was resumed (data_changes.h); null: none
  nlohmann::json machine = nlohmann::json::object();  // processor, instruction set, library versions
  std::int64_t step = 0;                              // steps done
  double best_score = -1;                             // best score of the validations so far; -1: none
  nlohmann::json unvalidated;  // numbers for results.csv of a last step whose validation was interrupted; else null
};

/// Writes a checkpoint. `optimizer` may be empty (best checkpoints are for prediction). Errors: kOutput.
void save_checkpoint(const std::filesystem::path& path, const CheckpointState& state, const Parameters& parameters,
                     const Parameters& optimizer);

struct Checkpoint {
  CheckpointState state;
  Parameters parameters;
  Parameters optimizer;
};

/// Reads a checkpoint. Errors: kInput when it is missing, kCheckpoint when it is damaged, of another format or not
/// written by voxshard.
Checkpoint load_checkpoint(const std::filesystem::path& path);

}  // namespace voxshard
