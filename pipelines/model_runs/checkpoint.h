// Checkpoints of a run: parameters, their moving average, optimizer state and everything that decides how training goes
// on, in one safetensors file that appears whole or not at all; a JSON of the same name beside it is for people.
//
//   RUN/checkpoints/last.safetensors  best.safetensors  step-000400.safetensors   (which:
//   pipelines/model_runs/checkpoint_folder.h)
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "libcore/runtime/core_set.h"

namespace voxshard {

/// The weights of a checkpoint: those after the last step, or their moving average.
inline constexpr const char *kLastWeights = "last", *kAveragedWeights = "averaged";

struct CheckpointState {
  nlohmann::json model = nlohmann::json::object();    // ModelSpec
  nlohmann::json prepare = nlohmann::json::object();  // PreparePlan
  // settings that decide the result: optimizer, sampling, steps, seed, cases
  nlohmann::json training = nlohmann::json::object();
  nlohmann::json content = nlohmann::json::object();     // a hash of the content of each case
  nlohmann::json trained_on = nlohmann::json::object();  // TrainedOn of all cases that were trained on so far
  nlohmann::json changes;  // data changes that were accepted when the run was resumed (data_changes.h); null: none
  nlohmann::json from;     // the checkpoint whose weights the run began with (run.json); null: none
  nlohmann::json machine = nlohmann::json::object();  // processor, instruction set, library versions
  std::int64_t step = 0;                              // steps done
  double best_score = -1;                             // best score of the validations so far; -1: none
  std::string weights;  // kLastWeights or kAveragedWeights, of which best_score is the score; empty: not validated
  nlohmann::json unvalidated;  // numbers for results.csv of a last step whose validation was interrupted; else null
};

/// Writes a checkpoint. `optimizer` may be empty (best checkpoints are for prediction), as may `averages`, the moving
/// average of the parameters. Errors: kOutput.
void save_checkpoint(const std::filesystem::path& path, const CheckpointState& state, const Parameters& parameters,
                     const Parameters& optimizer, const Parameters& averages = {});

struct Checkpoint {
  CheckpointState state;
  Parameters parameters;
  Parameters optimizer;
  Parameters averages = {};  // empty: the run keeps none
};

/// Reads a checkpoint. Errors: kInput when it is missing, kCheckpoint when it is damaged, of another format or not
/// written by voxshard.
Checkpoint load_checkpoint(const std::filesystem::path& path);

}  // namespace voxshard
