// RUN/run.json as `train` wrote it; a resumed run is compared with it.
//
//   if (const auto record = read_run_record("run")) model_spec_from_json(record->at("model"));
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

namespace voxshard {

/// The key of run.json that is true once a checkpoint was written: without it, a run that lost all of its checkpoints
/// looks like one that was killed before the first.
inline constexpr const char* kSavedCheckpoints = "saved_checkpoints";
/// The key of run.json with the number of ranks; absent for one rank.
inline constexpr const char* kRanks = "ranks";

/// A summary of the data that a run was trained on, without its cases; a task may write it.
inline constexpr const char* kFingerprintFile = "fingerprint.json";

/// Reads the record of a run, with "options", "recipe", "model", "training" and kSavedCheckpoints; none when the folder
/// has none.
/// Errors: kInput when it is no JSON, kCheckpoint when it is of another format or lacks one of these.
std::optional<nlohmann::json> read_run_record(const std::filesystem::path& run);

}  // namespace voxshard
