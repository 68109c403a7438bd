// Saving and restoring the state of a training: its folder, its checkpoints, run.json.
#include "io/files/config_file.h"
#include "io/files/content_hash.h"
#include "libcore/base/file_format.h"
#include "libcore/base/stopwatch.h"
#include "libcore/base/text.h"
#include "libcore/train/initialise.h"
#include "pipelines/model_runs/run_record.h"
#include "pipelines/report_page/report_page.h"
#include "pipelines/training/data_changes.h"
#include "pipelines/training/fine_tuning.h"
#include "pipelines/training/run_config.h"
#include "pipelines/training/run_identity.h"
#include "pipelines/training/train_memory.h"
#include "pipelines/training/train_ranks.h"
#include "pipelines/training/training_run.h"

namespace voxshard {

void TrainingRun::open_folder(TrainedOn* held_out) {
  Json training = state_.training;
  training.erase("steps");  // a resumed run may have more of them
  const Json made_with = {state_.model, state_.prepare, training};
  folder_.start(content_hash(made_with.dump()));
  if (!folder_.holds_checkpoint())
    write_report(false);  // a run that is stopped while data are hashed can be resumed too
  if (folder_.writes()) {
    CaseHashes content = task_->content(o_.resume, context_.pool(), progress_);
    state_.content = std::move(content.cases);
    if (held_out != nullptr) *held_out = TrainedOn(content.held_out);
    TrainedOn trained_on(content.trained);
    trained_on.add(before_);
    state_.trained_on = trained_on.to_json();
  }
  folder_.clear(o_.resume);
}

nlohmann::json TrainingRun::begin_from() {
  if (o_.from.empty() || folder_.goes_on()) return nullptr;
  const TrainedRun theirs = load_trained_run({.run = o_.from, .transport = &transport_});
  warnings_ = theirs.notes;
  const std::string hash = file_hash(theirs.file);
  if (!o_.from_hash.empty() && hash != o_.from_hash)
    throw Error(ErrorKind::kCheckpoint,
                "[train] " + theirs.file.string() + ", whose weights the run in " + o_.run.string() +
                    " begins with, has changed since; put it back, or begin anew with {restart}");
  const TakenWeights taken = take_weights(theirs, {o_.spec, extents_, task_->preparation()}, session_->parameters());
  notes_.push_back(to_text(taken));
  if (!taken.prepared_otherwise.empty())
    warnings_.push_back("the data of " + o_.from.string() + " were prepared otherwise (" +
                        joined(taken.prepared_otherwise, ", ", [](const std::string& key) { return key; }) +
                        "): its weights have learned other intensities or sizes");
  before_ = theirs.trained_on;
  return to_json(taken, std::filesystem::absolute(o_.from).lexically_normal(), hash);
}

void TrainingRun::write_report(bool ended) const {
  Json json = {{"format", kFileFormat},     {"command", "train"},          {"version", VOXSHARD_VERSION},
               {"options", o_.given},       {"layers", o_.layers},         {"recipe", to_json(o_.chosen)},
               {"model", to_json(o_.spec)}, {"training", state_.training}, {"machine", state_.machine},
               {"memory", memory_},         {kSavedCheckpoints, saved_}};
  if (transport_.ranks() > 1) json[kRanks] = transport_.ranks();
  json["metric"] = {{"name", report_.metric}, {"higher_is_better", task_->higher_is_better()}};
  if (!state_.from.is_null()) json[kFrom] = state_.from;
  if (!state_.changes.is_null()) json[kDataChanges] = state_.changes;
  if (ended) json["report"] = report_.to_json();
  folder_.write("run.json", json);
}

void TrainingRun::write_page() const {
  if (folder_.writes()) for_page([&] { write_report_page({o_.run}, o_.run / kReportPage); });
}

TrainingRun::DetailsForPage TrainingRun::store_for_page(std::int64_t step, Validation& last) {
  for_page([&] { folder_.slices(step, std::exchange(last.slices, nullptr)); });
  DetailsForPage details{.last = std::exchange(last.detail, nullptr), .averaged = nullptr};
  if (report_.averaged) details.averaged = std::exchange(report_.averaged->detail, nullptr);
  for_page([&] { folder_.last_detail(step, details.last); });
  if (details.last.is_object()) details.last.erase("images");  // those of the last validation are enough
  return details;
}

void TrainingRun::for_page(const std::function<void()>& write) const {
  try {
    write();
  } catch (const std::exception& error) {
    progress_.warn(std::string(kReportPage) + " is not up to date: " + error.what());
  }
}

void TrainingRun::describe() const {
  folder_.write("plans.json", {{"prepare", task_->preparation()}});
  if (!folder_.goes_on() && !o_.given.empty()) folder_.write(kConfigFile, config_of_run(o_));
  if (folder_.writes()) task_->describe(o_.run);
}

bool TrainingRun::checkpoint_is_due(std::int64_t looked_at, std::int64_t done) const {
  constexpr double kSecondsOfMinute = 60;
  return is_due(looked_at, done, o_.checkpoint_every) ||
         (o_.checkpoint_minutes > 0 && since_saved_.seconds() >= kSecondsOfMinute * o_.checkpoint_minutes);
}

void TrainingRun::save() {
  const Stopwatch watch;
  state_.step = trainer_->steps_done();
  folder_.save_last(state_, session_->parameters(), trainer_->optimizer().state(), trainer_->optimizer().averages());
  if (!std::exchange(saved_, true)) write_report(false);
  report_.checkpoint_s += watch.seconds();
  since_saved_ = {};
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
  const auto take = [&](Parameters& mine, Parameters& theirs, const char* what) {
    for (auto& [name, tensor] : mine) {
      const auto it = theirs.find(name);
      if (it == theirs.end() || it->second.shape() != tensor.shape() || it->second.dtype() != tensor.dtype())
        throw Error(ErrorKind::kCheckpoint, "[checkpoint] " + found->file.string() + ": " + what + " " + name +
                                                " is missing, or of another shape or type");
      tensor = std::move(it->second);
    }
  };
  take(trainer_->optimizer().state(), checkpoint.optimizer, "the optimizer's");
  take(trainer_->optimizer().averages(), checkpoint.averages, "the average of");
  session_->parameters() = std::move(checkpoint.parameters);
  trainer_->set_steps_done(checkpoint.state.step);
  saved_ = true;
  ends_early_ =
      ends_sooner(checkpoint.state, o_) && checkpoint.state.step == o_.steps && checkpoint.state.unvalidated.is_null();
  state_.best_score = checkpoint.state.best_score, state_.weights = checkpoint.state.weights;
  if (folder_.writes()) take_up(checkpoint.state);
  state_.unvalidated = checkpoint.state.unvalidated;
  progress_.log("resumed at step " + std::to_string(checkpoint.state.step));
}

void TrainingRun::end_early() {
  progress_.log("the run ends here, after " + std::to_string(o_.steps) + " steps");
  if (report_.validation_cases > 0) validate();
  save();
}

/// Takes over the history. Data already trained on stays recorded, even if the data changed; a change is reported and
/// recorded.
void TrainingRun::take_up(const CheckpointState& theirs) {
  state_.changes = theirs.changes, state_.from = theirs.from;
  if (const auto last = read_recent_metrics(o_.run).last) report_.loss = last->loss;  // of a call without a step
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
  if (const auto note = whole_steps_change(theirs, o_)) progress_.warn(*note);
}

/// Plans the run; one over the budget is refused now, not after hours. Returns the bytes of the largest step.
Footprint TrainingRun::plan_memory() {
  const TrainingSize size = training_size(o_, extents_, context_);
  const ModelSpec asked = o_.spec;
  WouldDo would_do;
  if (context_.resources().host_budget_bytes > 0 && context_.alone())
    would_do = [&] {
      const bool has_cut = folder_.goes_on() || !o_.plan;  // a resumed run keeps its cut
      return training_budget({o_, has_cut ? o_.spec : asked, has_cut ? std::nullopt : o_.plan, *task_, size}, context_);
    };
  Footprint bytes;
  name_budget(would_do, [&] {
    choose_plan();
    require_share_of_cores(transport_, o_);
    Budget budget = context_.step_budget();
    budget.caller_names = would_do != nullptr;
    session_ = training_session(o_, o_.spec, budget, context_);
    bytes = session_->bytes(extents_, Phase::kTrain).run;
  });
  memory_plan_ = plan_training(*session_, *task_, o_.spec, size, context_, would_do);
  return bytes;
}

/// Chooses the cut. A resumed run keeps the cut planned when it began. Planning depends on free memory, so rank 0 does
/// it.
void TrainingRun::choose_plan() {
  if (!o_.plan) return;
  if (folder_.writes()) {
    const auto planned = folder_.goes_on() ? planned_cut(o_.run) : std::nullopt;
    if (planned)
      o_.spec.cut = *planned;
    else
      o_.spec = planned_spec(beside_held(*o_.plan, context_), o_.spec, extents_, o_.optimizer,
                             {.threads = context_.threads(), .ranks = transport_.ranks(), .progress = &progress_});
  }
  broadcast_cut(transport_, o_.spec);
}

}  // namespace voxshard
