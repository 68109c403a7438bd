// Saving and restoring the state of a training: its folder, its checkpoints, run.json.
#include "io/files/config_file.h"
#include "io/files/content_hash.h"
#include "libcore/base/file_format.h"
#include "libcore/train/initialise.h"
#include "pipelines/model_runs/run_record.h"
#include "pipelines/training/data_changes.h"
#include "pipelines/training/run_identity.h"
#include "pipelines/training/train_ranks.h"
#include "pipelines/training/training_run.h"

namespace voxshard {

void TrainingRun::open_folder() {
  Json training = state_.training;
  training.erase("steps");  // a resumed run may have more of them
  const Json made_with = {state_.model, state_.prepare, training};
  folder_.start(content_hash(made_with.dump()));
  if (!folder_.holds_checkpoint())
    write_report(false);  // a run that is stopped while data are hashed can be resumed too
  if (folder_.writes()) {
    CaseHashes content = task_->content(o_.resume, context_.pool(), progress_);
    state_.content = std::move(content.cases);
    state_.trained_on = TrainedOn(content.trained).to_json();
  }
  folder_.clear(o_.resume);
}

void TrainingRun::write_report(bool ended) const {
  Json json = {{"format", kFileFormat},     {"command", "train"},          {"version", VOXSHARD_VERSION},
               {"options", o_.given},       {"layers", o_.layers},         {"recipe", to_json(o_.chosen)},
               {"model", to_json(o_.spec)}, {"training", state_.training}, {"machine", state_.machine},
               {"memory", memory_},         {kSavedCheckpoints, saved_}};
  if (transport_.ranks() > 1) json[kRanks] = transport_.ranks();
  if (!state_.changes.is_null()) json[kDataChanges] = state_.changes;
  if (ended) json["report"] = report_.to_json();
  folder_.write("run.json", json);
}

void TrainingRun::describe() const {
  folder_.write("plans.json", {{"prepare", task_->preparation()}});
  if (folder_.writes()) task_->describe(o_.run);
}

void TrainingRun::save() {
  state_.step = trainer_->steps_done();
  folder_.save_last(state_, session_->parameters(), trainer_->optimizer().state());
  if (!std::exchange(saved_, true)) write_report(false);
}

void TrainingRun::restore() {
  std::optional<ValidCheckpoint> found = folder_.load_newest();
  if (!found) {
    progress_.log("no checkpoint yet in " + o_.run.string() + ": starting from step 0");
    return;
  }
  Checkpoint& checkpoint = found->checkpoint;
  for (const std::string& note : found->notes) progress_.warn(note);
  if (folder_.writes()) require_same(*found);
  require_parameters_of(build_graph(o_.spec, extents_, Phase::kTrain, o_.spec.precision), checkpoint.parameters);
  for (auto& [name, tensor] : trainer_->optimizer().state()) {
    const auto it = checkpoint.optimizer.find(name);
    if (it == checkpoint.optimizer.end() || it->second.shape() != tensor.shape() ||
        it->second.dtype() != tensor.dtype())
      throw Error(ErrorKind::kCheckpoint, "[checkpoint] " + found->file.string() + ": the optimizer's " + name +
                                              " is missing, or of another shape or type");
    tensor = std::move(it->second);
  }
  session_->parameters() = std::move(checkpoint.parameters);
  trainer_->set_steps_done(checkpoint.state.step);
  saved_ = true;
  state_.best_score = checkpoint.state.best_score;
  if (folder_.writes()) take_up(checkpoint.state);
  state_.unvalidated = checkpoint.state.unvalidated;
  progress_.log("resumed at step " + std::to_string(checkpoint.state.step));
}

/// Takes over the history. Data already trained on stays recorded, even if the data changed; a change is reported and
/// recorded.
void TrainingRun::take_up(const CheckpointState& theirs) {
  state_.changes = theirs.changes;
  const DataChange change = data_change(theirs.content, state_.content);
  TrainedOn trained_on = TrainedOn::from_json(state_.trained_on);
  trained_on.add(TrainedOn::from_json(theirs.trained_on));
  state_.trained_on = trained_on.to_json();
  if (!change.any()) return;
  progress_.warn("the run goes on with data that are not what they were: " + to_text(change));
  Json entry = to_json(change);
  entry["step"] = theirs.step;
  const nlohmann::json cases = theirs.training.value("cases", nlohmann::json());
  entry["cases_before"] = cases.is_array() ? nlohmann::json(cases.size()) : cases;
  if (state_.changes.is_null()) state_.changes = nlohmann::json::array();
  state_.changes.push_back(nlohmann::json(entry));
  data_changed_ = true;
}

void TrainingRun::require_same(const ValidCheckpoint& found) {
  const CheckpointState& theirs = found.checkpoint.state;
  require_same_run(theirs, state_, found.file, o_.options_of_run, o_.accept_changes);
  for (const std::string& note : machine_changes(theirs.machine, state_.machine)) progress_.warn(note);
  if (const auto note = cut_change(theirs.model, state_.model)) progress_.warn(*note);
  if (const auto note = ranks_change(o_.run, transport_.ranks())) progress_.log(*note);
  if (const auto note = rate_change(theirs, o_)) progress_.warn(*note);
}

}  // namespace voxshard
