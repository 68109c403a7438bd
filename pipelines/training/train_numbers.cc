#include "pipelines/training/train_numbers.h"

#include <algorithm>

namespace voxshard {
namespace {

constexpr double kMostSteps = 1e9;  // centuries of steps of a second; products with samples stay far from overflow
constexpr NumberRange kSteps{1, kMostSteps}, kStepsOrNone{0, kMostSteps};
constexpr NumberRange kRate{0, 1e38};  // the optimizer's numbers are f32
constexpr NumberRange kFactor{1e-9, 1e3};
constexpr NumberRange kDecay{0, 0.999999};  // of what is remembered: at 1 nothing would be forgotten

}  // namespace

std::vector<TrainNumber> train_numbers(TrainOptions& t) {
  OptimizerOptions& o = t.optimizer;
  return {{"steps", kSteps, &t.steps},
          {"epochs", kStepsOrNone, &t.epochs},
          {"batch", {1, 65536}, &t.batch},
          {"learning-rate", kRate, &o.learning_rate},
          {"momentum", kDecay, &o.momentum},
          {"lr-decay-rate", kFactor, &o.decay_rate},
          {"lr-decay-steps", kSteps, &o.decay_steps},
          {"lr-decay-epochs", kStepsOrNone, &t.lr_decay_epochs},
          {"lr-steps", kStepsOrNone, &o.decay_at},
          {"lr-step-factor", kFactor, &o.step_factor},
          {"warmup-steps", kStepsOrNone, &o.warmup_steps},
          {"warmup-rate", kRate, &o.warmup_rate},
          {"weight-decay", {0, 1e3}, &o.weight_decay},
          {"clip-norm", kRate, &o.clip_norm},
          {"validate-every", kStepsOrNone, &t.validate_every},
          {"checkpoint-every", kSteps, &t.checkpoint_every},
          {"keep", {1, 1 << 20}, &t.kept.last},
          {"keep-every", kStepsOrNone, &t.kept.every}};
}

void require_in_range(const std::vector<TrainNumber>& rows) {
  for (const TrainNumber& row : rows) {
    if (const auto* real = std::get_if<double*>(&row.value)) require_in_range(row.name, **real, row.range);
    if (const auto* whole = std::get_if<std::int64_t*>(&row.value))
      require_in_range(row.name, static_cast<double>(**whole), row.range);
    if (const auto* list = std::get_if<std::vector<std::int64_t>*>(&row.value))
      for (const std::int64_t value : **list) require_in_range(row.name, static_cast<double>(value), row.range);
  }
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
