// voxshard train: prepared volumes, or pictures with boxes, to a run folder with checkpoints.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/command.h"
#include "apps/exit_code.h"
#include "apps/plan_args.h"
#include "apps/preset_args.h"
#include "apps/resume_args.h"
#include "apps/terminal/progress.h"
#include "apps/task_args.h"
#include "apps/trace_args.h"
#include "libcore/base/text.h"
#include "libcore/ranks/transport.h"
#include "pipelines/runs/rank_json.h"
#include "pipelines/training/run_facts.h"
#include "pipelines/training/run_train.h"
#include "pipelines/training/train_ranks.h"
#include "pipelines/training/train_numbers.h"

namespace voxshard {
namespace {

struct Options {
  ModelArgs model;
  PlanArgs plan;
  TraceArgs trace;
  PresetArgs preset;
  TrainOptions train;
  std::string optimizer = "adam", schedule = "polynomial", feed = kFeedNames[0];
  bool counted = false;  // epochs as steps
};

void add_training_options(CLI::App& app, Options& o) {
  const std::string training = "Training";
  TrainOptions& t = o.train;
  app.add_option("--steps", t.steps, "Steps in all")->capture_default_str()->group(training);
  app.add_option("--epochs", t.epochs, "Epochs of whole batches, in place of --steps; default: by --steps, of digits 10")
      ->excludes("--steps")->capture_default_str()->group(training);
  app.add_option(kBatchNames, t.batch, "Samples of a step over all replicas; for each replica of digits usually 64, of other classifiers 8, of volumes 4")
      ->capture_default_str()->group(training);
  app.add_option("--optimizer", o.optimizer, "adam, sgd, adadelta, adagrad or rmsprop, with the formulas of TensorFlow 1")
      ->check(one_of({std::begin(kOptimizerNames), std::end(kOptimizerNames)}))->capture_default_str()->group(training);
  app.add_option("--learning-rate", t.optimizer.learning_rate, "Rate before the schedule")->capture_default_str()->group(training);
  app.add_option("--momentum", t.optimizer.momentum, "Of sgd and rmsprop")->capture_default_str()->group(training);
  app.add_flag("--nesterov", t.optimizer.nesterov, "Nesterov momentum")->group(training);
  app.add_option("--schedule", o.schedule, "polynomial: (1 - step / steps)^0.9; exponential: decay rate^(step / decay steps); steps; or constant")
      ->check(one_of({"polynomial", "exponential", "steps", "constant"}))->capture_default_str()->group(training);
  app.add_option("--lr-decay-rate", t.optimizer.decay_rate, "Of the exponential schedule")->capture_default_str()->group(training);
  app.add_option("--lr-decay-steps", t.optimizer.decay_steps, "Of the exponential schedule")->capture_default_str()->group(training);
  app.add_option("--lr-decay-epochs", t.lr_decay_epochs,
                 "The same in passes over the training cases: after so many the rate falls, in stairs; 0: by --lr-decay-steps")
      ->excludes("--lr-decay-steps")->capture_default_str()->group(training);
  app.add_option("--lr-steps", t.optimizer.decay_at, "Of the schedule in steps: from each of these on times --lr-step-factor; default: 2/3 and 8/9 of --steps")
      ->delimiter(',')->allow_extra_args(false)->group(training);
  app.add_option("--lr-step-factor", t.optimizer.step_factor, "Of the schedule in steps")->capture_default_str()->group(training);
  app.add_option("--warmup-steps", t.optimizer.warmup_steps, "Linear from --warmup-rate")->capture_default_str()->group(training);
  app.add_option("--warmup-rate", t.optimizer.warmup_rate, "Learning rate that the warm-up begins with")->capture_default_str()->group(training);
  app.add_option("--weight-decay", t.optimizer.weight_decay, "On kernels (of RetinaNet see --decay-on); decoupled for adam")->capture_default_str()->group(training);
  app.add_option("--clip-norm", t.optimizer.clip_norm, "Clip the gradient to this global norm; 0: do not")->capture_default_str()->group(training);
  app.add_option("--validate-every", t.validate_every, "Steps between validations on whole volumes or pictures; 0: at the end")->capture_default_str()->group(training);
  app.add_option("--checkpoint-every", t.checkpoint_every, "Steps between checkpoints")->capture_default_str()->group(training);
  app.add_option("--feed", o.feed, "boxes: each core reads its box; per-host: as PER_HOST_V2 the host of core 0 reads whole samples and cuts them, to the same bits")
      ->check(one_of({std::begin(kFeedNames), std::end(kFeedNames)}))->capture_default_str()->group(training);
  app.add_option("--keep", t.kept.last, "Newest checkpoints to keep; the older ones are for when the last is damaged")->capture_default_str()->group(training);
  app.add_option("--keep-every", t.kept.every, "And each checkpoint whose step is a multiple of this; 0: none")
      ->capture_default_str()->group(training);
  app.add_flag("--resume", t.resume,
               "Go on from the last checkpoint, to the same bits. train --resume RUN takes data and options from the run; --steps may grow")
      ->group(training);
  app.add_flag("--accept-changes", t.accept_changes,
               "With --resume: go on though data of the run are gone, damaged or changed; which is said and kept in the run")
      ->group(training);
  app.add_flag("--restart", t.restart, "Throw an earlier run in the folder away")->group(training);
  app.add_option("--seed", t.seed, "Seed of weights, samples and augmentation")->check(number_in(kSeeds))->capture_default_str()->group("Samples");
  for (const TrainNumber& row : train_numbers(t)) app.get_option("--" + row.name)->check(number_in(row.range));
}

ScheduleKind schedule_from_name(const std::string& name) {
  if (name == "polynomial") return ScheduleKind::kPolynomial;
  if (name == "exponential") return ScheduleKind::kExponential;
  return name == "steps" ? ScheduleKind::kSteps : ScheduleKind::kConstant;
}

std::string report_text(const TrainReport& r, const std::string& run) {
  std::string text = std::to_string(r.steps) + " steps on " + std::to_string(r.train_cases) + " cases in " + duration_text(r.seconds) +
                     ", last loss " + fixed_text(r.loss, 4);
  if (r.validation)
    text += ", validation " + r.metric + " " + fixed_text(r.validation->score) + " (best " + fixed_text(r.best_score) + ")";
  if (r.left_out > 0) text += "; " + std::to_string(r.left_out) + " left out (see " + run + "/quarantine.csv)";
  return text + "; run folder " + run + (r.interrupted ? "; INCOMPLETE: stopped, go on with: voxshard train --resume " + run + "\n" : "\n") +
          (r.ranks.empty() ? to_text(r.memory) : memory_text_of_ranks(r.ranks));
}

/// What the options say only now: names, and what depends on other options.
void complete_options(Options& o) {
  TrainOptions& t = o.train;
  require_in_range(train_numbers(t));  // of a recipe or a run that goes on too
  t.optimizer.kind = static_cast<OptimizerKind>(std::ranges::find(kOptimizerNames, o.optimizer) - std::begin(kOptimizerNames));
  t.optimizer.schedule = schedule_from_name(o.schedule);
  if (t.optimizer.schedule != ScheduleKind::kSteps || (t.epochs > 0 && !o.counted)) return;
  if (t.optimizer.decay_at.empty()) t.optimizer.decay_at = {t.steps * 2 / 3, t.steps * 8 / 9};  // as 15,000 and 20,000 of the original's 22,500
  std::vector<std::string>& kept = t.given["lr-steps"];  // more steps later do not move them
  kept.clear();
  for (std::int64_t step : t.optimizer.decay_at) kept.push_back(std::to_string(step));
}

/// `train --resume RUN`, without -o: the place of the data names the run.
void require_or_take_output(CLI::App& app, TrainOptions& t) {
  if (!t.run.empty()) return;
  if (!t.resume) throw Error(ErrorKind::kUsage, "[usage] --output is required; try --help");
  t.run = t.work;
  const bool steps = is_given(app, "steps"), epochs = is_given(app, "epochs");
  take_options_of_run(app, t.run);
  t.options_of_run = true;
  if (steps && !epochs) app.get_option("--epochs")->clear(), t.epochs = 0;
  if (epochs && !steps) app.get_option("--steps")->clear();
}

/// What the model is usually trained with, where nothing else was given in its place.
void take_usual(CLI::App& app, const Options& o, Progress& progress) {
  const auto any_given = [&](std::initializer_list<const char*> options) {
    return std::ranges::any_of(options, [&](const char* option) { return is_given(app, option); });
  };
  const ModelSpec spec = model_spec(o.model, 0);
  std::vector<Choice> usual = usual_training(*spec.model, wanted_replicas(o.model, spec));
  const bool scheduled = any_given({"schedule", "lr-decay-steps", "lr-steps", "lr-step-factor"});
  std::erase_if(usual, [&](const Choice& c) {
    if (c.option == "epochs") return is_given(app, "steps");
    if (c.option == "learning-rate") return o.optimizer != "adam";
    return scheduled && c.option != "batch";
  });
  for (const Choice& c : say(app, usual)) progress.log("chosen: {" + c.option + "} " + c.value + " (" + c.reason + ")");
}

/// All that the options say, as the run takes it.
void settle(const CLI::App& app, Options& o) {
  o.train.given = given_options(app);
  complete_options(o);
  o.train.spec = model_spec(o.model, o.train.batch);
}

/// Says what the recipe has for the options that nobody gave.
void choose(CLI::App& app, const Options& o, const Context& context, TrainOptions& run, const TrainingTask& task) {
  NoProgress quiet;  // a plan that only asks whether it fits
  const Context asking{.threads = context.threads, .progress = &quiet, .transport = context.transport};
  TrainOptions asked = run;
  if (is_auto(o.model))
    asked.choose_plan = [&](const ModelSpec& spec, const Shape& extents) {
      return planned_spec(o.plan, o.model, spec, extents, run.optimizer, asking);
    };
  const bool precision = !is_given(app, "precision");
  if (const std::string unseen = precision ? unseen_host() : ""; !unseen.empty()) context.progress->log(unseen);
  const auto chosen = [&] { return recipe(recipe_facts(asked, task, precision)); };
  run.chosen = say(app, choices_of_first(*context.transport, chosen));
  for (const Choice& c : run.chosen) context.progress->log("chosen: {" + c.option + "} " + c.value + " (" + c.reason + ")");
}

/// What is not given: of a run that goes on what was chosen when it began, else the recipe's, once run_train knows the data.
void leave_to_recipe(CLI::App& app, Options& o, const Context& context) {
  TrainOptions& t = o.train;
  bool goes_on = false;
  if (t.resume)
    if (const auto chosen = known_choices_of_first(*context.transport, [&] { return choices_of_run(t.run); })) {
      if (o.preset.name == "reference" && !chosen->empty())
        throw Error(ErrorKind::kConfig, "[resume] the run in " + t.run.string() + " began with chosen settings, {" + chosen->front().option + "} " +
                                            chosen->front().value + " among them; leave {preset} out, or start a run of its own");
      say(app, *chosen);
      t.chosen = *chosen;
      goes_on = true;
    }
  const bool choosing = !goes_on && chooses(app, o.preset, *context.progress);
  if (!choosing && t.epochs == 0) return;
  t.choose_settings = [&app, &o, &context, choosing](TrainOptions& run, const TrainingTask& task) {
    o.train.steps = run.steps, o.train.optimizer.decay_steps = run.optimizer.decay_steps, o.train.optimizer.stairs = run.optimizer.stairs;
    o.counted = true;
    if (choosing) choose(app, o, context, run, task);
    settle(app, o);
    run.given = o.train.given, run.optimizer = o.train.optimizer, run.spec = o.train.spec;
  };
}

/// To predict what the model has not seen; none where there is no such thing.
std::vector<std::string> next_command(const TrainReport& report, const TrainOptions& o) {
  if (report.unseen.data.empty()) return {};
  std::vector<std::string> words = {"predict", o.run.string(), report.unseen.data.string(), "-o",
                                    task_of(task_table(), o.spec).words().predicted};
  if (report.unseen.among_trained) words.push_back("--held-out");
  return words;
}

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<Options>();
  o->train.optimizer.schedule = ScheduleKind::kPolynomial;
  app.add_option("work", o->train.work,
                 joined(task_clauses(&TaskWords::training_data), "; "))
      ->required()
      ->type_name(kPathType);
  app.add_option("-o,--output", o->train.run, "Run folder to write; with --resume it may stand in place of the data")->type_name(kPathType);
  add_model_options(app, o->model, true);
  add_plan_options(app, o->plan, o->model);
  add_training_options(app, *o);
  add_task_settings(app, TaskCommand::kTrain, o->train.task);
  add_trace_options(app, o->trace);
  add_preset_option(app, o->preset);
  return [o, &app](const Context& context) {
    TrainOptions& t = o->train;
    require_or_take_output(app, t);
    take_usual(app, *o, *context.progress);
    leave_to_recipe(app, *o, context);
    settle(app, *o);
    const bool speaks = context.transport->rank() == 0;
    if (speaks) announce(o->plan, o->model, t.spec, t.batch, context);
    t.core_budget_bytes = core_budget_bytes(o->model);
    t.host_budget_bytes = host_budget_bytes(o->plan);
    if (is_auto(o->model))
      // Not the shared pointer: the options would own themselves.
      t.choose_plan = [o = o.get(), &context](const ModelSpec& spec, const Shape& extents) {
        return planned_spec(o->plan, o->model, spec, extents, o->train.optimizer, context);
      };
    t.threads = context.threads;
    t.transport = context.transport;
    t.trace = trace_options(o->trace, o->plan.device);
    const TpuConfig config = tpu_config(o->model.tpu, t.batch);
    t.iterations_per_loop = config.iterations_per_loop;
    t.feed = o->feed == kFeedNames[0] ? FeedMode::kBoxes : FeedMode::kPerHost;
    if (speaks && !o->plan.asked_device.empty() && !o->plan.device.empty()) t.device = device_from_name(o->plan.device).device;
    if (config.per_host_input_for_training == InputMode::kPerHostV2 && t.feed == FeedMode::kBoxes)
      context.progress->log("PER_HOST_V2: here each core reads its own box; {feed} per-host reads whole samples on the host of core 0");
    const TrainReport report = run_train(t, *context.progress);
    return Outcome{.json = report.to_json(), .text = report_text(report, t.run.string()),
                   .exit_code = report.left_out > 0 ? kExitPartial : kExitOk, .interrupted = report.interrupted,
                   .next = next_command(report, t), .resume = {"train", "--resume", t.run.string()}};
  };
}

}  // namespace

Command train_command() {
  return {.name = "train",
          .summary = "Trains a model on prepared volumes, or on pictures with boxes or classes, cut over a set of emulated cores.",
          .example = "voxshard train work -o model --partition 1x2x2x2x1 --base-filters 8 --steps 400\n  "
                     "mpirun -n 4 --bind-to none voxshard train work -o model --partition 1x2x2x2x1 --base-filters 8 --steps 400",
          .add = add,
          .saves = "the step at hand is dropped (over several ranks it is finished), the state after the last whole one is saved; go on with voxshard train --resume RUN",
          .ranks = true};
}

}  // namespace voxshard
