// What makes a run the one that it is, and what a resumed run is held against: the model, how it learns, what its cases
// hold; and the machine, which may change but not silently.
//
//   state.training = training_json(options, task);
//   require_same_run(theirs, state, "run/checkpoints/last.safetensors", false);
//   for (const std::string& note : machine_changes(theirs.machine, state.machine)) progress.log(note);
#pragma once

#include <optional>

#include "pipelines/model_runs/checkpoint.h"
#include "pipelines/training/run_train.h"

namespace voxshard {

/// What decides the trajectory; a resumed run must agree on all of it but the steps, which may grow.
nlohmann::ordered_json training_json(TrainOptions& options, const TrainingTask& task);

/// Processor, instruction set, version of this program and of the libraries that numbers and files go through.
nlohmann::ordered_json machine_json();
/// A line that names each thing that is another now; none where nothing is.
std::vector<std::string> machine_changes(const nlohmann::json& theirs, const nlohmann::json& mine);

/// How the model is cut may differ (cut_change()), but for replicas that a norm or a loss is taken over.
/// Errors: kConfig names the first option that contradicts the run when the others were taken from it, else
/// kCheckpoint; kCheckpoint for a case that holds something else than it did.
///   accepts_changes  the data may be others: cases gone, changed or new, and what follows from them
void require_same_run(const CheckpointState& theirs, const CheckpointState& mine, const std::filesystem::path& file,
                      bool options_of_run, bool accepts_changes = false);

/// That a run goes on over another grid or other replicas than its model was cut for, in a sentence.
std::optional<std::string> cut_change(const nlohmann::json& theirs, const nlohmann::json& mine);

/// What more steps do to the learning rate of a run that goes on, in a sentence; none where its schedule does not
/// depend on them.
std::optional<std::string> rate_change(const CheckpointState& theirs, const TrainOptions& mine);

/// The cut that an earlier call planned for the run in this folder (--partition auto), by its run.json; none when there
/// is no such call. Errors: kCheckpoint when run.json is broken.
std::optional<Cut> planned_cut(const std::filesystem::path& run);

/// For a run of which no checkpoint is there. Errors: kCheckpoint when its run.json says that one was written, or is
/// broken.
void require_no_lost_checkpoints(const std::filesystem::path& run);

}  // namespace voxshard
