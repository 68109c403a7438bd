// RUN/run.json as `train` wrote it: what a run that goes on is held against.
//
//   if (const auto record = read_run_record("run")) model_spec_from_json(record->at("model"));
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

namespace voxshard {

/// The key of run.json that says whether a checkpoint was ever written: without one of them, a run that lost all of its
/// checkpoints looks like one that was killed before the first.
inline constexpr const char* kSavedCheckpoints = "saved_checkpoints";

/// The record of a run, with "options", "recipe", "model", "training" and kSavedCheckpoints; none where the folder has
/// none. Errors: kInput when it is no JSON, kCheckpoint when it is of another format or lacks one of these.
std::optional<nlohmann::json> read_run_record(const std::filesystem::path& run);

}  // namespace voxshard
