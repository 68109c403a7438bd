#include "pipelines/commands/run_train.h"

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "io/files/content_hash.h"
#include "io/files/csv.h"
#include "io/files/output_folder.h"
#include "libcore/base/stopwatch.h"
#include "libcore/base/text.h"
#include "libcore/kernels/conv.h"
#include "libcore/ops/op_table.h"
#include "libcore/train/initialise.h"
#include "libcore/train/trainer.h"
#include "pipelines/commands/host_memory.h"
#include "pipelines/commands/run_identity.h"
#include "pipelines/commands/train_memory.h"
#include "pipelines/commands/train_numbers.h"
#include "pipelines/profile/device_advice.h"
#include "pipelines/runs/checkpoint_folder.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

/// One run: what it holds while it goes.
class Run {
 public:
  Run(const TrainOptions& options, const RecordFormat& records, OutputFolder& folder, std::unique_ptr<TrainingTask> task,
      Progress& progress)
      : o_(options), records_(records), folder_(folder), progress_(progress), task_(std::move(task)), pool_(options.threads),
        checkpoints_(options.run / "checkpoints", options.kept), host_(options.host_budget_bytes) {
    extents_ = task_->largest_extents(o_.batch);
    if (o_.choose_plan) choose_plan();
    const Graph graph = build_graph(o_.spec, extents_, Phase::kTrain, o_.spec.precision);
    session_ = std::make_unique<Session>(
        op_table(),
        lowering_of(o_.spec, host_budget(o_.core_budget_bytes, o_.host_budget_bytes),
                    {.optimizer_slots = Optimizer::slots(o_.optimizer), .workers = o_.threads}),
        pool_);
    session_->set_stop(progress_.stop_check());
    const Footprint bytes = session_->bytes(extents_, Phase::kTrain).run;
    memory_plan_ = plan_training(*session_, *task_, o_.spec, {.extents = extents_, .steps = o_.steps, .threads = o_.threads, .traced = !o_.trace.file.empty(), .feed = o_.feed},
                                 host_, progress_);  // over the budget is refused now, not after hours
    memory_ = memory_json(bytes);
    report_.parameters = count_parameters(graph);
    report_.train_cases = task_->training_cases(), report_.validation_cases = task_->validation_cases();
    report_.metric = task_->metric(), report_.unseen = task_->unseen();
    report_.chosen_on_test = task_->validates_on_test(), report_.left_out = task_->left_out();
    progress_.log("planned: " + bytes_text(bytes.widest_core()) + " per core, " +
                  bytes_text(memory_plan_.total()) + " in this process; " +
                  std::to_string(report_.parameters) + " parameters");
    if (o_.spec.precision == DType::kBF16 && !cpu_has_native_bf16())
      progress_.log("this processor does not multiply bf16: values are stored as bf16 and multiplied in f32");
    session_->parameters() = initialise(graph, o_.seed);
    trainer_ = std::make_unique<Trainer>(*session_, o_.optimizer, graph, o_.steps, o_.seed);
    feed_.emplace(o_.feed, o_.spec.cut.mesh, *task_);
    state_ = {.model = to_json(o_.spec),
              .prepare = task_->preparation(),
              .training = training_json(o_, *task_),
              .content = {},
              .machine = machine_json()};
  }

  TrainReport go() {
    const Stopwatch watch;
    open_folder();
    trace_.emplace(o_.trace, o_.threads);
    const Program& program = session_->plan(extents_, Phase::kTrain).program;
    trace_->price(program, op_table(), feed_of(program.graph, records_));
    if (o_.device)
      for (const std::string& text : device_warnings(program, op_table(), *o_.device, feed_of(program.graph, records_))) progress_.warn(text);
    if (o_.resume) load();
    describe();
    const bool had_work = trainer_->steps_done() < o_.steps || !state_.unvalidated.is_null();
    if (had_work) write_report(false);
    else progress_.log("all " + std::to_string(o_.steps) + " steps are done: nothing is left to train; more with {steps}");
    CsvWriter csv = CsvWriter::resume(o_.run / "results.csv",
                                      {"step", "loss", "gradient_norm", "learning_rate", "seconds", "validation_" + report_.metric},
                                      trainer_->steps_done());
    progress_.update("train", trainer_->steps_done(), o_.steps, "");
    try {
      if (!state_.unvalidated.is_null()) validate_again(csv);
      steps(csv);
    } catch (const Stopped&) {
      report_.interrupted = true;
      trace_->end_step();
    }
    trace_->write();
    if (report_.interrupted) save();
    report_.steps = trainer_->steps_done();
    report_.best_score = state_.best_score;
    report_.seconds = watch.seconds();
    report_.feed = feed_->report();
    if (o_.feed == FeedMode::kPerHost) progress_.log(to_text(report_.feed));
    if (const auto text = report_.feed.warning(); text && o_.device) progress_.warn(*text);
    report_.memory = host_.report(memory_plan_);
    if (had_work) write_report(true);
    return report_;
  }

 private:
  /// The cut of a resumed run is the one that was planned when it began.
  void choose_plan() {
    const auto planned = o_.resume && checkpoints_.holds_run() ? planned_cut(o_.run) : std::nullopt;
    if (planned) o_.spec.cut = *planned;
    else o_.spec = o_.choose_plan(o_.spec, extents_);
  }

  /// Errors: Stopped; what was done until then is whole.
  void steps(CsvWriter& csv) {
    std::int64_t looked_at = o_.iterations_per_loop.begin_of(trainer_->steps_done());
    Stopwatch loop_watch;
    while (trainer_->steps_done() < o_.steps) {
      throw_if_stopped(progress_);
      const Stopwatch step_watch;
      const StepResult result = one_step();
      const std::int64_t done = trainer_->steps_done();
      const double seconds = step_watch.seconds();
      const bool last = done == o_.steps;
      const double loop_seconds = loop_watch.seconds();
      const bool look = last || o_.iterations_per_loop.ends(done, loop_seconds);
      const bool validated = look && report_.validation_cases > 0 && (last || is_due(looked_at, done, o_.validate_every));
      if (validated) {
        state_.unvalidated = {result.loss, result.gradient_norm, result.learning_rate, seconds};
        validate();
        state_.unvalidated = nullptr;
      }
      csv.write({done, result.loss, result.gradient_norm, result.learning_rate, seconds,
                 validated ? report_.validation->score : std::numeric_limits<double>::quiet_NaN()});
      if (!look) continue;
      if (last || is_due(looked_at, done, o_.checkpoint_every)) save();
      progress_.update("train", done, o_.steps, text_of(result));
      looked_at = done;
      ++report_.loops;
      loop_watch = {};
    }
  }

  /// The validation that a stop cut short, of the step that was resumed from; its row is written now.
  void validate_again(CsvWriter& csv) {
    validate();
    std::vector<CsvField> row = {trainer_->steps_done()};
    for (const auto& value : state_.unvalidated) row.emplace_back(value.get<double>());
    row.emplace_back(report_.validation->score);
    csv.write(row);
    state_.unvalidated = nullptr;
    report_.loss = std::get<double>(row[1]);
    save();
  }

  /// Only a run that can start may throw an earlier one away.
  void open_folder() {
    Json training = state_.training;
    training.erase("steps");  // a resumed run may have more of them
    const Json made_with = {state_.model, state_.prepare, training};
    folder_.start({.options = content_hash(made_with.dump()), .parts = {}});
    if (!checkpoints_.holds_run()) write_report(false);  // who is stopped while data are hashed can go on too
    state_.content = task_->content(o_.resume, pool_, progress_);
    make_output_folder(o_.run / "checkpoints");
    if (!o_.resume) checkpoints_.remove_all();  // also the best of a run that was killed before its first checkpoint
    if (!o_.resume) std::filesystem::remove(o_.run / "results.csv");
  }

  /// run.json: at the start with what the run is, for those who resume it; at the end also with how it went.
  void write_report(bool ended) const {
    Json json = {{"command", "train"},
                 {"version", VOXSHARD_VERSION},
                 {"options", o_.given},
                 {"recipe", to_json(o_.chosen)},
                 {"model", to_json(o_.spec)},
                 {"training", state_.training},
                 {"machine", state_.machine},
                 {"memory", memory_},
                 {kSavedCheckpoints, saved_}};
    if (ended) json["report"] = report_.to_json();
    write_json(o_.run / "run.json", json);
  }

  void describe() const {
    write_json(o_.run / "plans.json", {{"prepare", task_->preparation()}});
    task_->describe(o_.run);
  }

  StepResult one_step() {
    const Stopwatch watch;
    const Shape extents = task_->load(trainer_->steps_done(), o_.batch, pool_);
    feed_->begin(watch.seconds());
    if (trace_->recorder() != nullptr) {
      CoreSet& cores = session_->cores(extents, Phase::kTrain);
      cores.set_trace(trace_->recorder());
      trace_->begin_step(cores.executable().program);
    }
    const StepResult result =
        trainer_->step(extents, [&](const Node& input, const TensorView& box) { feed_->fill(input, box); });
    trace_->end_step();
    feed_->end(watch.seconds());
    report_.loss = result.loss;
    return result;
  }

  std::string text_of(const StepResult& result) const {
    char text[96];
    if (report_.validation)
      std::snprintf(text, sizeof text, "loss %.4f  validation %s %.4f", result.loss, task_->metric(), report_.validation->score);
    else std::snprintf(text, sizeof text, "loss %.4f", result.loss);
    return text;
  }

  /// Errors: Stopped, before anything of it is kept.
  void validate() {
    report_.validation = task_->validate(*session_, o_.spec, progress_);
    report_.left_out = task_->left_out();  // also what could not be read now
    if (report_.validation->score <= state_.best_score) return;
    state_.best_score = report_.validation->score;
    state_.step = trainer_->steps_done();
    CheckpointState state = state_;
    state.unvalidated = nullptr;
    checkpoints_.save_best(state, session_->parameters());
  }

  void save() {
    state_.step = trainer_->steps_done();
    checkpoints_.save_last(state_, session_->parameters(), trainer_->optimizer().state());
    if (!std::exchange(saved_, true)) write_report(false);
  }

  void load() {
    std::optional<SoundCheckpoint> found = checkpoints_.load_newest();
    if (!found) {
      checkpoints_.remove_all();  // the best of a run that cannot go on
      progress_.log("no checkpoint yet in " + o_.run.string() + ": starting from step 0");
      return;
    }
    Checkpoint& checkpoint = found->checkpoint;
    for (const std::string& note : found->notes) progress_.warn(note);
    o_.optimizer.epsilon_at = epsilon_of(checkpoint.state.training);
    trainer_->optimizer().set_epsilon_at(o_.optimizer.epsilon_at);
    state_.training = training_json(o_, *task_);
    require_same_run(checkpoint.state, state_, found->file, o_.options_of_run);
    for (const std::string& note : machine_changes(checkpoint.state.machine, state_.machine)) progress_.warn(note);
    if (const auto note = rate_change(checkpoint.state, o_)) progress_.warn(*note);
    if (checkpoint.state.content.is_null())
      progress_.warn("the checkpoint does not say what the data held: whether they were changed since is not known");
    require_parameters_of(build_graph(o_.spec, extents_, Phase::kTrain, o_.spec.precision), checkpoint.parameters);
    for (auto& [name, tensor] : trainer_->optimizer().state()) {
      const auto it = checkpoint.optimizer.find(name);
      if (it == checkpoint.optimizer.end() || it->second.shape() != tensor.shape() || it->second.dtype() != tensor.dtype())
        throw Error(ErrorKind::kCheckpoint, "[checkpoint] " + found->file.string() + ": the optimizer's " + name +
                                                " is missing, or of another shape or type");
      tensor = std::move(it->second);
    }
    session_->parameters() = std::move(checkpoint.parameters);
    trainer_->set_steps_done(checkpoint.state.step);
    saved_ = true;
    state_.best_score = checkpoint.state.best_score;
    state_.unvalidated = checkpoint.state.unvalidated;
    progress_.log("resumed at step " + std::to_string(checkpoint.state.step));
  }

  TrainOptions o_;
  RecordFormat records_;
  OutputFolder& folder_;
  Progress& progress_;
  std::unique_ptr<TrainingTask> task_;
  WorkerPool pool_;
  Shape extents_;  // the largest of any step
  CheckpointFolder checkpoints_;
  std::optional<TraceFile> trace_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Trainer> trainer_;
  std::optional<SampleFeed> feed_;
  CheckpointState state_;
  TrainReport report_;
  Json memory_;
  HostMemory host_;
  ProcessPlan memory_plan_;
  bool saved_ = false;  // a checkpoint was written
};

void check(const TrainOptions& o) {
  auto require = [](bool ok, const std::string& text) {
    if (!ok) throw Error(ErrorKind::kConfig, "[train] " + text);
  };
  if (o.resume && o.restart) throw Error(ErrorKind::kUsage, "[train] {resume} goes on with a run, {restart} throws it away; give one of them");
  require(o.batch % o.spec.cut.mesh.replicas == 0, "the batch " + std::to_string(o.batch) + " must be divisible by the " +
                                              std::to_string(o.spec.cut.mesh.replicas) + " replicas");
}

}  // namespace

TrainReport run_train(const TrainOptions& options, Progress& progress, const TaskTable& tasks) {
  TrainOptions o = options;
  require_in_range(train_numbers(o));
  check(o);
  const Task& kind = task_of(tasks, o.spec);
  require_own_settings(kind, o.task, "train", "the model is a " + o.spec.model_name());
  require_in_range(kind.settings(TaskCommand::kTrain, o.task));
  const HostMemory host(o.host_budget_bytes);
  std::unique_ptr<TrainingTask> task = kind.training(
      {.data = o.work, .seed = o.seed, .threads = o.threads, .memory_bytes = left_of(host.budget_bytes(), host.base_bytes()), .stop = progress.stop_check()}, o.task, o.spec);
  task->complete(o.spec);
  require_output_file(o.trace.file, profile_file(), {.inputs = {o.work}, .own = o.run, .option = "{trace}"});
  const bool goes_on = o.resume && CheckpointFolder(o.run / "checkpoints", o.kept).holds_run();
  OutputFolder folder({.folder = o.run, .command = "train", .inputs = {o.work}, .adopts = goes_on});
  for (const std::string& warning : task->warnings()) progress.warn(warning);
  if (CheckpointFolder(o.run / "checkpoints", o.kept).holds_run() && !o.resume && !o.restart)
    throw Error(ErrorKind::kUsage, "[train] " + o.run.string() + " already holds a run; go on with {resume}, or throw it away with {restart}");
  if (!o.restart && !goes_on) require_no_lost_checkpoints(o.run);
  count_epochs(o, task->training_cases());
  if (o.choose_settings) {
    o.choose_settings(o, *task);
    task->complete(o.spec);
  }
  return Run(o, kind.records(), folder, std::move(task), progress).go();
}

}  // namespace voxshard
