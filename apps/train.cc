// voxshard train: a prepared work folder to a run folder with checkpoints.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/plan_args.h"
#include "apps/progress.h"
#include "apps/text_table.h"
#include "apps/trace_args.h"
#include "pipelines/run_train.h"

namespace voxshard {
namespace {

struct Options {
  ModelArgs model;
  PlanArgs plan;
  TraceArgs trace;
  TrainOptions train;
  std::string crop = "64x64x64", optimizer = "adam", schedule = "polynomial", flip;
};

void add_training_options(CLI::App& app, Options& o) {
  const std::string training = "Training", samples = "Samples";
  TrainOptions& t = o.train;
  app.add_option("--steps", t.steps, "Steps in all")->capture_default_str()->group(training);
  app.add_option(kBatchNames, t.batch, "Samples of a step over all replicas")->capture_default_str()->group(training);
  app.add_option("--optimizer", o.optimizer, "adam or sgd")->check(CLI::IsMember({"adam", "sgd"}))->capture_default_str()->group(training);
  app.add_option("--learning-rate", t.optimizer.learning_rate, "Rate before the schedule")->capture_default_str()->group(training);
  app.add_option("--momentum", t.optimizer.momentum, "Of sgd")->capture_default_str()->group(training);
  app.add_flag("--nesterov", t.optimizer.nesterov, "Nesterov momentum")->group(training);
  app.add_option("--schedule", o.schedule, "polynomial: (1 - step / steps)^0.9; exponential: decay rate^(step / decay steps); or constant")
      ->check(CLI::IsMember({"polynomial", "exponential", "constant"}))->capture_default_str()->group(training);
  app.add_option("--lr-decay-rate", t.optimizer.decay_rate, "Of the exponential schedule")->check(CLI::PositiveNumber)->capture_default_str()->group(training);
  app.add_option("--lr-decay-steps", t.optimizer.decay_steps, "Of the exponential schedule")->check(CLI::PositiveNumber)->capture_default_str()->group(training);
  app.add_option("--warmup-steps", t.optimizer.warmup_steps, "Linear from 0")->capture_default_str()->group(training);
  app.add_option("--weight-decay", t.optimizer.weight_decay, "On kernels; decoupled for adam")->capture_default_str()->group(training);
  app.add_option("--clip-norm", t.optimizer.clip_norm, "Clip the gradient to this global norm; 0: do not")->capture_default_str()->group(training);
  app.add_option("--fold", t.fold, "Which of 5 folds validates, or all: train on everything")->capture_default_str()->group(training);
  app.add_option("--validate-every", t.validate_every, "Steps between validations on whole volumes; 0: at the end")->capture_default_str()->group(training);
  app.add_option("--checkpoint-every", t.checkpoint_every, "Steps between checkpoints")->capture_default_str()->group(training);
  app.add_flag("--resume", t.resume, "Go on from the last checkpoint, to the same bits")->group(training);
  app.add_flag("--restart", t.restart, "Throw an earlier run in the folder away")->group(training);
  app.add_option("--crop", o.crop, "D x H x W of the crops, or whole: whole volumes, padded to a few sizes")->capture_default_str()->group(samples);
  app.add_option("--foreground", t.sampling.foreground, "Share of crops centred on a voxel of a random class")
      ->check(CLI::Range(0.0, 1.0))->capture_default_str()->group(samples);
  app.add_option("--intensity-scale", t.sampling.intensity_scale, "Standard deviation of a random factor")->capture_default_str()->group(samples);
  app.add_option("--noise", t.sampling.noise, "Standard deviation of added noise, in normalised units")->capture_default_str()->group(samples);
  app.add_option("--flip", o.flip, "Axes to mirror at random, like DHW; not where left and right are different classes")->group(samples);
  app.add_option("--pad-multiple", t.sampling.pad_multiple, "Whole volumes are padded to a multiple of this")->capture_default_str()->group(samples);
  app.add_option("--seed", t.sampling.seed, "Seed of weights, samples and augmentation")->capture_default_str()->group(samples);
}

std::string report_text(const TrainReport& r, const std::string& run) {
  std::string text = std::to_string(r.steps) + " steps on " + std::to_string(r.train_cases) + " cases in " + duration_text(r.seconds) +
                     ", last loss " + fixed_text(r.loss, 4);
  if (r.mean_dice >= 0) text += ", validation Dice " + fixed_text(r.mean_dice) + " (best " + fixed_text(r.best_dice) + ")";
  return text + "; run folder " + run + (r.interrupted ? "; interrupted, go on with --resume\n" : "\n");
}

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<Options>();
  o->train.optimizer.schedule = ScheduleKind::kPolynomial;
  app.add_option("work", o->train.work, "Folder that voxshard prepare wrote")->required();
  app.add_option("-o,--output", o->train.run, "Run folder to write")->required();
  add_model_options(app, o->model, true);
  add_plan_options(app, o->plan);
  add_training_options(app, *o);
  add_trace_options(app, o->trace);
  return [o](const Context& context) {
    TrainOptions& t = o->train;
    t.spec = model_spec(o->model, t.batch);
    t.core_budget_bytes = core_budget_bytes(o->model);
    t.host_budget_bytes = host_budget_bytes(o->plan);
    if (is_auto(o->model))
      t.choose_plan = [o, &context](const ModelSpec& spec, const Shape& extents) {
        return planned_spec(o->plan, o->model, spec, extents, context);
      };
    t.threads = context.threads;
    t.trace = trace_options(o->trace, o->plan.device);
    t.optimizer.kind = o->optimizer == "adam" ? OptimizerKind::kAdam : OptimizerKind::kSgd;
    t.optimizer.schedule = o->schedule == "polynomial"    ? ScheduleKind::kPolynomial
                           : o->schedule == "exponential" ? ScheduleKind::kExponential
                                                          : ScheduleKind::kConstant;
    t.iterations_per_loop = tpu_config(o->model.tpu, t.batch).iterations_per_loop;
    if (o->crop != "whole") {
      const Shape extents = extents_from_text(o->crop, 3, 1);
      t.sampling.crop = {extents[1], extents[2], extents[3]};
    }
    for (char axis : o->flip) {
      const auto at = std::string("DHW").find(axis);
      if (at == std::string::npos) throw Error(ErrorKind::kUsage, "[usage] --flip is \"" + o->flip + "\"; expected letters of DHW");
      t.sampling.flip[at] = true;
    }
    const TrainReport report = run_train(t, *context.progress);
    return Outcome{.json = report.to_json(), .text = report_text(report, t.run.string()), .interrupted = report.interrupted};
  };
}

}  // namespace

Command train_command() {
  return {"train", "Trains a model on prepared volumes, cut over a set of emulated cores.",
          "voxshard train work -o model --partition 1x2x2x2x1 --base-filters 8 --steps 400", add};
}

}  // namespace voxshard
