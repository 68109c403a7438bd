// The identity of a run, with which a resumed run is compared: the model, the settings of its training, the content of
// its cases; and the machine, which may change but not silently.
//
//   state.training = training_json(options, task);
//   require_same_run(theirs, state, "run/checkpoints/last.safetensors", false);
//   for (const std::string& note : machine_changes(theirs.machine, state.machine)) progress.log(note);
#pragma once

#include <optional>

#include "pipelines/model_runs/checkpoint.h"
#include "pipelines/training/run_train.h"

namespace voxshard {

/// Returns everything that determines the trajectory; a resumed run must agree on all of it except the steps.
nlohmann::ordered_json training_json(TrainOptions& options, const TrainingTask& task);

/// Returns the processor, the instruction set, and the versions of this program and of the libraries for numerics and
/// files.
nlohmann::ordered_json machine_json();
/// Returns a line for the parts of the machine that changed; empty when nothing did.
std::vector<std::string> machine_changes(const nlohmann::json& theirs, const nlohmann::json& mine);

/// Checks that two states are of the same run. The steps may grow, or shrink to those that are done. The cut of the
/// model may differ (cut_change()), except for the number of replicas if a norm or a loss is taken per replica. Errors:
/// kConfig with the first option that contradicts the run when the other options were taken from it
/// (`options_of_run`), else kCheckpoint; kCheckpoint for a case whose content changed.
///   accepts_changes  the data may differ: cases gone, changed or new, and the fields that depend on them
void require_same_run(const CheckpointState& theirs, const CheckpointState& mine, const std::filesystem::path& file,
                      bool options_of_run, bool accepts_changes = false);

/// Returns a sentence when a run is resumed with another grid or other replicas than before.
std::optional<std::string> cut_change(const nlohmann::json& theirs, const nlohmann::json& mine);

/// True when a resumed run has fewer steps than before: it is to end sooner.
bool ends_sooner(const CheckpointState& theirs, const TrainOptions& mine);

/// Returns a sentence where a resumed run has other steps than before, and has been on the whole volumes at the end of
/// those.
std::optional<std::string> whole_steps_change(const CheckpointState& theirs, const TrainOptions& mine);
/// Returns a sentence on the effect of other steps on the learning rate of a resumed run; nullopt when its schedule
/// does not depend on them.
std::optional<std::string> rate_change(const CheckpointState& theirs, const TrainOptions& mine);

/// Returns the cut that an earlier call planned for the run in this folder (--partition auto), from its run.json;
/// nullopt when there is none. Errors: kCheckpoint when run.json is broken.
std::optional<Cut> planned_cut(const std::filesystem::path& run);

/// Sets fields that `spec` leaves to the data set (ConfigField::from_data) to what an earlier call found for the run in
/// this folder, so that a run goes on with it when its data change. Errors: kCheckpoint when run.json is broken.
void keep_fitted(ModelSpec& spec, const std::filesystem::path& run);

/// Checks a run without checkpoints. Errors: kCheckpoint when its run.json records that one was written, or is broken.
void require_no_lost_checkpoints(const std::filesystem::path& run);

}  // namespace voxshard
