#include "pipelines/training/training_rows.h"

#include <algorithm>

#include "pipelines/training/time_budget.h"

namespace voxshard {
namespace {

constexpr NumberRange kSteps{1, kMostSteps}, kStepsOrNone{0, kMostSteps};
constexpr NumberRange kMinutesOrNone{0, 1e6};
constexpr NumberRange kRates{0, 1e38};  // the optimizer's numbers are f32
constexpr NumberRange kFactor{1e-9, 1e3};
constexpr NumberRange kDecay{0, 0.999999};  // decay factor of a moving average: at 1 nothing would decay
constexpr const char* kTraining = "Training";

/// The names of ScheduleKind, in its order.
const std::vector<std::string> kSchedules = {"constant", "polynomial", "exponential", "steps"};

Setting number(const char* name, const char* help, Setting::Value value, const NumberRange& range) {
  return {name, help, kTraining, std::move(value), range};
}

/// Returns the row of a number that determines the trajectory.
Setting deciding(const char* name, const char* help, Setting::Value value, const NumberRange& range) {
  Setting row = number(name, help, std::move(value), range);
  row.decides = true;
  return row;
}

Setting choice(const char* name, const char* help, Setting::Access value, std::vector<std::string> names) {
  return {name, help, kTraining, std::move(value), {}, std::move(names)};
}

Setting flag_of_one_call(const char* name, const char* help, bool& value) {
  return {.name = name, .help = help, .group = kTraining, .value = &value, .of_one_call = true};
}

Setting excluding(Setting row, const char* other) {
  row.excludes = {other};
  return row;
}

/// The time decides by the steps that it gives, which the run keeps.
Setting time_row(TrainOptions& t) {
  Setting row = {.name = "time",
                 .help =
                     "Time to train in, like 90s, 30m or 1h, in place of {steps}: some steps are measured and "
                     "forgotten, then the steps that fit, with validation, are fixed and said; of unet3d and retinanet "
                     "also the size of the model, of unet3d the {crop}, with {memory} the {partition}, where "
                     "nothing else says them",
                 .group = kTraining,
                 .value = [&t](const std::string& text) { t.time_s = seconds_from_text(text); }};
  row.of_one_call = true;
  row.excludes = {"steps", "epochs", "resume"};
  return row;
}

}  // namespace

std::vector<Setting> training_rows(TrainOptions& t) {
  OptimizerOptions& o = t.optimizer;
  const std::vector<std::string> optimizers(std::begin(kOptimizerNames), std::end(kOptimizerNames)),
      feeds(std::begin(kFeedNames), std::end(kFeedNames));
  std::vector<Setting> rows = {
      deciding("steps", "Steps in all", &t.steps, kSteps),
      excluding(number("epochs", "Epochs of whole batches, in place of {steps}; default: by {steps}, of digits 10",
                       &t.epochs, kStepsOrNone),
                "steps"),
      time_row(t),
      deciding("batch",
               "Samples of a step over all replicas; for each replica of digits usually 64, of other classifiers 8, of "
               "volumes 4",
               &t.batch, {1, 65536}),
      choice("optimizer", "adam, sgd, adadelta, adagrad or rmsprop, with the formulas of TensorFlow 1",
             named(o.kind, optimizers), optimizers),
      deciding("learning-rate", "Rate before the schedule", &o.learning_rate, kRates),
      deciding("momentum", "Of sgd and rmsprop", &o.momentum, kDecay),
      {.name = "nesterov", .help = "Nesterov momentum", .group = kTraining, .value = &o.nesterov, .decides = true},
      choice("schedule",
             "polynomial: (1 - step / steps)^0.9; exponential: decay rate^(step / decay steps); steps; or constant",
             named(o.schedule, kSchedules), {"polynomial", "exponential", "steps", "constant"}),
      number("lr-decay-rate", "Of the exponential schedule", &o.decay_rate, kFactor),
      number("lr-decay-steps", "Of the exponential schedule", &o.decay_steps, kSteps),
      excluding(number("lr-decay-epochs",
                       "The same in passes over the training cases: after so many the rate falls, in stairs; 0: by "
                       "{lr-decay-steps}",
                       &t.lr_decay_epochs, kStepsOrNone),
                "lr-decay-steps"),
      number("lr-steps",
             "Of the schedule in steps: from each of these on times {lr-step-factor}; default: 2/3 and 8/9 of {steps}",
             &o.decay_at, kStepsOrNone),
      number("lr-step-factor", "Of the schedule in steps", &o.step_factor, kFactor),
      deciding("warmup-steps", "Linear from {warmup-rate}", &o.warmup_steps, kStepsOrNone),
      deciding("warmup-rate", "Learning rate that the warm-up begins with", &o.warmup_rate, kRates),
      deciding("weight-decay", "On kernels (of RetinaNet see {decay-on}); decoupled for adam", &o.weight_decay,
               {0, 1e3}),
      deciding("clip-norm", "Clip the gradient to this global norm; 0: do not", &o.clip_norm, kRates),
      deciding(
          "ema",
          "Decay of a moving average of the weights, like 0.999, kept beside them: it is smoother than the weights "
          "of any one step, which move with their last samples; both are validated, the better one is the best "
          "checkpoint; 0: none; chosen for detectors",
          &o.ema, kDecay),
      number("validate-every", "Steps between validations on whole volumes or pictures; 0: at the end",
             &t.validate_every, kStepsOrNone),
      number("checkpoint-every", "Steps between checkpoints", &t.checkpoint_every, kSteps),
      number("checkpoint-minutes",
             "And one when so many minutes have passed since the last, which is about what a kill can cost a slow run; "
             "it changes nothing of what is computed; 0: by steps alone",
             &t.checkpoint_minutes, kMinutesOrNone),
      choice("feed",
             "boxes: each core reads its box; per-host: as PER_HOST_V2 the host of core 0 reads whole samples and cuts "
             "them, to the same bits",
             named(t.feed, feeds), feeds),
      number("keep", "Newest checkpoints to keep; the older ones are for when the last is damaged", &t.kept.last,
             {1, 1 << 20}),
      number("keep-every", "And each checkpoint whose step is a multiple of this; 0: none", &t.kept.every,
             kStepsOrNone),
      number("slices",
             "Validated volumes or pictures, the worst and the best, of which the run keeps slices or a drawn picture "
             "for its page; 0: none, since slices of a head show a face",
             &t.slices, {0, static_cast<double>(kMostSlicedCases)}),
      flag_of_one_call("resume",
                       "Go on from the last checkpoint, to the same bits. train {resume} RUN takes data and options "
                       "from the run; {steps} may grow",
                       t.resume),
      choice(
          "predict-held-out",
          "When the run ends, predict what it held out into RUN/held_out, for evaluate, which takes the folders of all "
          "folds together; auto: where {fold} names a fold",
          named(t.held_out, {std::begin(kHeldOutModes), std::end(kHeldOutModes)}),
          {std::begin(kHeldOutModes), std::end(kHeldOutModes)}),
      flag_of_one_call(
          "accept-changes",
          "With {resume}: go on though data of the run are gone, damaged or changed; which is said and kept in the run",
          t.accept_changes),
      {"from",
       "Run folder or checkpoint to begin with, of which the weights that fit by name and shape are taken, those of "
       "classes by the names of the classes; the rest begins anew, which is said. Its model is taken where no option "
       "says otherwise",
       kTraining, &t.from},
      flag_of_one_call("restart", "Throw an earlier run in the folder away", t.restart),
      {"seed", "Seed of weights, samples and augmentation", "Samples", &t.seed, kSeeds}};
  for (Setting& row : rows) {
    if (row.name == "batch") row.other_names = {"train_batch_size", "train-batch-size"};
    if (row.name == "optimizer") row.decides = true;
  }
  return rows;
}

nlohmann::ordered_json json_of(const SettingValue& value) {
  return std::visit([](const auto& one) { return nlohmann::ordered_json(one); }, value);
}

std::string field_of(const Setting& row) {
  std::string field = row.name;
  std::ranges::replace(field, '-', '_');
  return field;
}

nlohmann::ordered_json deciding_json(TrainOptions& options, const std::vector<std::string>& always) {
  TrainOptions untouched;
  const std::vector<Setting> rows = training_rows(options), defaults = training_rows(untouched);
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const std::string& name : always) {
    const auto row = std::ranges::find(rows, name, &Setting::name);
    json[field_of(*row)] = json_of(*value_of(*row));
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (const auto value = value_of(rows[i]); rows[i].decides && value != value_of(defaults[i]))
      json[field_of(rows[i])] = json_of(*value);
  json.update(options.also);
  return json;
}

void count_epochs(TrainOptions& options, std::int64_t cases) {
  const auto steps_of = [&](const char* name, std::int64_t epochs) {
    const std::int64_t steps_each = ceil_div(std::max<std::int64_t>(cases, 1), options.batch);
    require_in_range(name, static_cast<double>(epochs), {1, kMostSteps / static_cast<double>(steps_each)});
    return epochs * steps_each;
  };
  if (options.epochs > 0) options.steps = steps_of("epochs", options.epochs);
  if (options.lr_decay_epochs == 0) return;
  options.optimizer.decay_steps = steps_of("lr-decay-epochs", options.lr_decay_epochs);
  options.optimizer.stairs = true;
}

}  // namespace voxshard
