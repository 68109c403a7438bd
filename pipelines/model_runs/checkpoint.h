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
  nlohmann::json training =
      nlohmann::json::object();  // what decides the trajectory: optimizer, sampling, steps, seed, cases
  nlohmann::json content = nlohmann::json::object();     // a hash of what each case holds
  nlohmann::json trained_on = nlohmann::json::object();  // TrainedOn of all that trained so far
  nlohmann::json changes;  // of the data, that were accepted when the run went on (data_changes.h); null: none
  nlohmann::json machine = nlohmann::json::object();  // processor, instruction set, library versions
  std::int64_t step = 0;                              // steps done
  double best_score = -1;                             // of the validations so far; -1: none
  nlohmann::json
      unvalidated;  // of a last step whose validation was stopped, what its row of results.csv says; else null
};

/// `optimizer` may be empty (best checkpoints are for prediction). Errors: kOutput.
void save_checkpoint(const std::filesystem::path& path, const CheckpointState& state, const Parameters& parameters,
                     const Parameters& optimizer);

struct Checkpoint {
  CheckpointState state;
  Parameters parameters;
  Parameters optimizer;
};

/// Errors: kInput when it is missing, kCheckpoint when it is damaged, of another format or not one of ours.
Checkpoint load_checkpoint(const std::filesystem::path& path);

}  // namespace voxshard
