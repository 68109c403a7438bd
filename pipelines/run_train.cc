#include "pipelines/run_train.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "io/csv.h"
#include "io/dataset.h"
#include "libcore/kernels/conv.h"
#include "libcore/ops/op_table.h"
#include "libcore/train/initialise.h"
#include "libcore/train/trainer.h"
#include "pipelines/checkpoint.h"
#include "pipelines/predict_volume.h"
#include "pipelines/validation.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

std::string schedule_text(const OptimizerOptions& o) {
  if (o.schedule == ScheduleKind::kConstant) return "constant";
  if (o.schedule == ScheduleKind::kPolynomial) return "polynomial";
  char text[64];
  std::snprintf(text, sizeof text, "%.9g^(step / %lld)", o.decay_rate, static_cast<long long>(o.decay_steps));
  return text;
}

/// What decides the trajectory; a resumed run must agree on all of it.
Json training_json(const TrainOptions& o, const std::vector<std::string>& cases) {
  return {{"steps", o.steps},
          {"batch", o.batch},
          {"fold", o.fold},
          {"cases", cases},
          {"optimizer", o.optimizer.kind == OptimizerKind::kAdam ? "adam" : "sgd"},
          {"learning_rate", o.optimizer.learning_rate},
          {"momentum", o.optimizer.momentum},
          {"nesterov", o.optimizer.nesterov},
          {"weight_decay", o.optimizer.weight_decay},
          {"clip_norm", o.optimizer.clip_norm},
          {"schedule", schedule_text(o.optimizer)},
          {"warmup_steps", o.optimizer.warmup_steps},
          {"seed", o.sampling.seed},
          {"crop", o.sampling.crop.empty() ? "whole" : to_string(o.sampling.crop)},
          {"foreground", o.sampling.foreground},
          {"intensity_scale", o.sampling.intensity_scale},
          {"noise", o.sampling.noise},
          {"flip", o.sampling.flip},
          {"pad_multiple", o.sampling.pad_multiple}};
}

/// The folds of the data set; none when all cases are trained on.
std::vector<Split> folds_of(const PreparedDataset& dataset, const TrainOptions& options) {
  if (options.fold == "all" || dataset.cases.size() < 2) return {};
  std::vector<std::string> ids;
  for (const PreparedCase& item : dataset.cases) ids.push_back(item.id);
  return make_splits(ids, static_cast<int>(std::min<std::size_t>(5, ids.size())));
}

Split choose_split(const PreparedDataset& dataset, const std::vector<Split>& folds, const std::string& fold) {
  for (std::size_t f = 0; f < folds.size(); ++f)
    if (fold == std::to_string(f)) return folds[f];
  if (!folds.empty())
    throw Error(ErrorKind::kConfig, "[train] --fold is \"" + fold + "\"; expected 0 to " + std::to_string(folds.size() - 1) + " or all");
  Split all;
  for (const PreparedCase& item : dataset.cases) all.train.push_back(item.id);
  return all;
}

std::vector<std::size_t> indices(const PreparedDataset& dataset, const std::vector<std::string>& ids) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < dataset.cases.size(); ++i)
    if (std::find(ids.begin(), ids.end(), dataset.cases[i].id) != ids.end()) found.push_back(i);
  return found;
}

/// One run: what it holds while it goes.
class Run {
 public:
  Run(const TrainOptions& options, PreparedDataset dataset, Progress& progress)
      : o_(options), progress_(progress), dataset_(std::move(dataset)), folds_(folds_of(dataset_, options)),
        split_(choose_split(dataset_, folds_, options.fold)), pool_(options.threads) {
    source_ = std::make_unique<SampleSource>(dataset_, indices(dataset_, split_.train), options.sampling);
    extents_ = source_->largest_extents(o_.batch);
    if (o_.choose_plan) o_.spec = o_.choose_plan(o_.spec, extents_);
    const Graph graph = build_graph(o_.spec, extents_, Phase::kTrain, o_.spec.precision);
    const std::int64_t optimizer_bytes = Optimizer::state_bytes(o_.optimizer, graph);
    session_ = std::make_unique<Session>(
        session_options(o_.spec, {.core_bytes = o_.core_budget_bytes, .host_bytes = o_.host_budget_bytes, .optimizer_bytes = optimizer_bytes}), pool_);
    const Executable& plan = session_->plan(extents_, Phase::kTrain);
    for (std::size_t index : indices(dataset_, split_.val))  // a validation over the budget is refused now, not after hours
      session_->plan(prediction_extents(dataset_.cases[index].shape, o_.spec.unet.depth), Phase::kPredict);
    memory_ = memory_json(plan, o_.threads, optimizer_bytes);
    report_.parameters = count_parameters(graph);
    report_.train_cases = static_cast<std::int64_t>(split_.train.size());
    report_.validation_cases = static_cast<std::int64_t>(split_.val.size());
    progress_.log("planned: " + bytes_text(widest_core(plan, optimizer_bytes).second) + " per core, " +
                  bytes_text(plan.host_bytes(o_.threads, optimizer_bytes)) + " in this process; " +
                  std::to_string(report_.parameters) + " parameters");
    if (o_.spec.precision == DType::kBF16 && !cpu_has_native_bf16())
      progress_.log("this processor does not multiply bf16: values are stored as bf16 and multiplied in f32");
    session_->parameters() = initialise(graph, o_.sampling.seed);
    trainer_ = std::make_unique<Trainer>(*session_, o_.optimizer, graph, o_.steps);
    state_ = {.model = to_json(o_.spec), .prepare = to_json(dataset_.plan), .training = training_json(o_, split_.train)};
  }

  TrainReport go() {
    const auto start = Clock::now();
    open_folder();
    trace_.emplace(o_.trace, o_.threads);
    trace_->price(session_->plan(extents_, Phase::kTrain).program, op_table());
    if (o_.resume) load();
    describe();
    CsvWriter csv = CsvWriter::resume(o_.run / "results.csv",
                                      {"step", "loss", "gradient_norm", "learning_rate", "seconds", "validation_dice"},
                                      trainer_->steps_done());
    std::int64_t looked_at = trainer_->steps_done();
    auto loop_start = Clock::now();
    while (trainer_->steps_done() < o_.steps && !progress_.stop_requested()) {
      const auto step_start = Clock::now();
      const StepResult result = one_step();
      const std::int64_t done = trainer_->steps_done();
      const double seconds = std::chrono::duration<double>(Clock::now() - step_start).count();
      const bool last = done == o_.steps;
      const double loop_seconds = std::chrono::duration<double>(Clock::now() - loop_start).count();
      const bool look = last || o_.iterations_per_loop.ends(done - looked_at, loop_seconds);
      const bool validated = look && !split_.val.empty() && (last || is_due(looked_at, done, o_.validate_every));
      if (validated) validate();
      csv.write({done, result.loss, result.gradient_norm, result.learning_rate, seconds,
                 validated ? report_.mean_dice : std::numeric_limits<double>::quiet_NaN()});
      if (!look) continue;
      if (last || is_due(looked_at, done, o_.checkpoint_every)) save();
      progress_.update("train", done, o_.steps, text_of(result));
      looked_at = done;
      loop_start = Clock::now();
    }
    report_.interrupted = trainer_->steps_done() < o_.steps;
    trace_->write();
    if (report_.interrupted) save();
    report_.steps = trainer_->steps_done();
    report_.best_dice = state_.best_dice;
    report_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    write_json(o_.run / "run.json", {{"command", "train"},
                                     {"version", VOXSHARD_VERSION},
                                     {"model", to_json(o_.spec)},
                                     {"training", state_.training},
                                     {"memory", memory_},
                                     {"report", report_.to_json()}});
    return report_;
  }

 private:
  /// Only a run that can start may throw an earlier one away.
  void open_folder() {
    make_output_folder(o_.run / "checkpoints");
    if (o_.restart)
      for (const char* name : {"last.safetensors", "last.json", "best.safetensors", "best.json"})
        std::filesystem::remove(o_.run / "checkpoints" / name);
    if (!o_.resume) std::filesystem::remove(o_.run / "results.csv");
  }

  void describe() const {
    write_json(o_.run / "plans.json", {{"prepare", to_json(dataset_.plan)}});
    if (!folds_.empty()) write_splits(o_.run / "splits_final.json", folds_);
  }

  StepResult one_step() {
    const std::int64_t step = trainer_->steps_done();
    const auto batch = source_->batch(step, o_.batch);
    source_->prefetch(source_->batch(step + 1, o_.batch));
    const Shape extents = source_->extents(batch);
    if (trace_->recorder() != nullptr) {
      CoreSet& cores = session_->cores(extents, Phase::kTrain);
      cores.set_trace(trace_->recorder());
      trace_->begin_step(cores.executable().program);
    }
    const StepResult result = trainer_->step(extents, [&](const std::string& input, const TensorView& box) {
      source_->fill(batch, input, box);
    });
    trace_->end_step();
    report_.loss = result.loss;
    return result;
  }

  std::string text_of(const StepResult& result) const {
    char text[96];
    if (report_.mean_dice >= 0) std::snprintf(text, sizeof text, "loss %.4f  validation Dice %.4f", result.loss, report_.mean_dice);
    else std::snprintf(text, sizeof text, "loss %.4f", result.loss);
    return text;
  }

  void validate() {
    report_.validation_dice = validation_dice(*session_, dataset_, indices(dataset_, split_.val), o_.spec.unet.depth, progress_);
    double sum = 0;
    int counted = 0;
    for (double dice : report_.validation_dice)
      if (std::isfinite(dice)) sum += dice, ++counted;
    report_.mean_dice = counted > 0 ? sum / counted : 0;
    if (report_.mean_dice <= state_.best_dice) return;
    state_.best_dice = report_.mean_dice;
    state_.step = trainer_->steps_done();
    save_checkpoint(o_.run / "checkpoints" / "best.safetensors", state_, session_->parameters(), {});
  }

  void save() {
    state_.step = trainer_->steps_done();
    save_checkpoint(o_.run / "checkpoints" / "last.safetensors", state_, session_->parameters(), trainer_->optimizer().state());
  }

  void load() {
    const auto path = o_.run / "checkpoints" / "last.safetensors";
    if (!std::filesystem::exists(path)) {
      progress_.log("no checkpoint yet in " + o_.run.string() + ": starting from step 0");
      return;
    }
    Checkpoint checkpoint = load_checkpoint(path);
    const Json mine = {{"model", state_.model}, {"prepare", state_.prepare}, {"training", state_.training}};
    const Json theirs = {{"model", checkpoint.state.model}, {"prepare", checkpoint.state.prepare}, {"training", checkpoint.state.training}};
    for (const auto& change : nlohmann::json::diff(nlohmann::json(theirs), nlohmann::json(mine)))
      throw Error(ErrorKind::kCheckpoint, "[checkpoint] " + path.string() + " is of another run: " +
                                              change.at("path").get<std::string>() +
                                              " differs; give the options of that run, or --restart");
    require_parameters_of(build_graph(o_.spec, extents_, Phase::kTrain, o_.spec.precision), checkpoint.parameters);
    for (auto& [name, tensor] : trainer_->optimizer().state()) {
      const auto it = checkpoint.optimizer.find(name);
      if (it == checkpoint.optimizer.end() || it->second.shape() != tensor.shape())
        throw Error(ErrorKind::kCheckpoint, "[checkpoint] " + path.string() + ": the optimizer's " + name + " is missing");
      tensor = std::move(it->second);
    }
    session_->parameters() = std::move(checkpoint.parameters);
    trainer_->set_steps_done(checkpoint.state.step);
    state_.best_dice = checkpoint.state.best_dice;
    progress_.log("resumed at step " + std::to_string(checkpoint.state.step));
  }

  TrainOptions o_;
  Progress& progress_;
  PreparedDataset dataset_;
  std::vector<Split> folds_;
  Split split_;
  WorkerPool pool_;
  std::unique_ptr<SampleSource> source_;
  Shape extents_;  // the largest of any step
  std::optional<TraceFile> trace_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Trainer> trainer_;
  CheckpointState state_;
  TrainReport report_;
  Json memory_;
};

void check(const TrainOptions& o) {
  auto require = [](bool ok, const std::string& text) {
    if (!ok) throw Error(ErrorKind::kConfig, "[train] " + text);
  };
  require(o.spec.unet.spatial_axes == 3, "only unet3d trains on volumes");
  require(o.steps >= 1 && o.batch >= 1 && o.checkpoint_every >= 1, "--steps, --batch and --checkpoint-every must be at least 1");
  require(o.batch % o.spec.replicas == 0, "the batch " + std::to_string(o.batch) + " must be divisible by the " +
                                              std::to_string(o.spec.replicas) + " replicas");
  require(o.sampling.pad_multiple >= 1, "--pad-multiple must be at least 1");
}

}  // namespace

TrainReport run_train(const TrainOptions& options, Progress& progress) {
  TrainOptions o = options;
  PreparedDataset dataset = read_prepared(o.work);
  o.spec.unet.classes = dataset.plan.classes();
  o.spec.unet.channels = static_cast<std::int64_t>(dataset.plan.channels.size());
  if (o.spec.unet.channels != 1)
    throw Error(ErrorKind::kConfig, "[train] the data set has " + std::to_string(o.spec.unet.channels) + " channels; one (CT) is supported");
  check(o);
  const auto last = o.run / "checkpoints" / "last.safetensors";
  if (std::filesystem::exists(last) && !o.resume && !o.restart)
    throw Error(ErrorKind::kUsage, "[train] " + o.run.string() + " already holds a run; go on with --resume, or throw it away with --restart");
  return Run(o, std::move(dataset), progress).go();
}

nlohmann::ordered_json TrainReport::to_json() const {
  Json dice = Json::array();
  for (double d : validation_dice) dice.push_back(std::isfinite(d) ? Json(d) : Json(nullptr));
  return {{"steps", steps},           {"parameters", parameters},
          {"loss", loss},             {"train_cases", train_cases},
          {"validation_cases", validation_cases}, {"validation_dice", dice},
          {"mean_dice", mean_dice >= 0 ? Json(mean_dice) : Json(nullptr)},
          {"best_dice", best_dice >= 0 ? Json(best_dice) : Json(nullptr)},
          {"interrupted", interrupted}, {"seconds", seconds}};
}

}  // namespace voxshard
