// The checkpoints that a run keeps, and the choice of the one to use. The newest is always last.safetensors; before a
// newer one takes that name, it gets the name of its step:
//
//   RUN/checkpoints/last.safetensors  best.safetensors  step-000400.safetensors  step-000300.safetensors
//
//   CheckpointFolder checkpoints("run/checkpoints", {.last = 2, .every = 1000});
//   ValidCheckpoint c = checkpoints.load_newest();     // last, or the newest before it that is whole
//   checkpoints.save_last(state, parameters, optimizer, averages);
//
// Training writes here; prediction reads by checkpoint_files() and load_first_valid().
#pragma once

#include <optional>
#include <vector>

#include "pipelines/model_runs/checkpoint.h"

namespace voxshard {

struct KeptCheckpoints {
  std::int64_t last = 2;   // number of newest checkpoints, at least 1
  std::int64_t every = 0;  // and each whose step is a multiple of this; 0: none
};

struct ValidCheckpoint {
  std::filesystem::path file;
  Checkpoint checkpoint;
  std::vector<std::filesystem::path> damaged;  // newer ones that cannot be used
  std::vector<std::string> notes;              // messages for the user: damaged checkpoints and the reasons
};

/// Returns the files to try, in this order. `which`: "best", "last" (then the older ones, newest first), or "auto":
/// best, then as last. Lists existing files, or one that is missing when none exists. Errors: kUsage for another name.
std::vector<std::filesystem::path> checkpoint_files(const std::filesystem::path& folder, const std::string& which);

/// Loads the first of `files` that is valid. Errors: when none is valid those of load_checkpoint for the first, which
/// then also names the others.
ValidCheckpoint load_first_valid(const std::vector<std::filesystem::path>& files);

/// Returns the JSON for people beside the newest checkpoint: that of last.safetensors, and while a newer one is written
/// that of the step before. None before the first.
std::optional<std::filesystem::path> newest_description(const std::filesystem::path& folder);

class CheckpointFolder {
 public:
  CheckpointFolder(std::filesystem::path folder, const KeptCheckpoints& kept);

  /// True when there is a checkpoint to resume from.
  bool holds_run() const;
  /// Removes the checkpoints of an earlier run.
  void remove_all() const;
  /// Loads the newest valid checkpoint; none before the first was written. Errors: kCheckpoint, kInput when none of
  /// them can be used.
  std::optional<ValidCheckpoint> load_newest();

  /// Writes last.safetensors and removes checkpoints that are no longer kept. A whole checkpoint exists at every
  /// moment.
  /// Errors: kOutput.
  void save_last(const CheckpointState& state, const Parameters& parameters, const Parameters& optimizer,
                 const Parameters& averages);
  /// Writes best.safetensors without the optimizer's state, for prediction. Errors: kOutput.
  void save_best(const CheckpointState& state, const Parameters& parameters, const Parameters& averages) const;

 private:
  void keep_last() const;
  void let_go(std::int64_t step);

  std::filesystem::path folder_, last_;
  KeptCheckpoints kept_;
  std::optional<std::int64_t> last_step_;       // step of last.safetensors, when it is known to be valid
  std::vector<std::filesystem::path> damaged_;  // found when loading; removed once a newer one is there
};

}  // namespace voxshard
