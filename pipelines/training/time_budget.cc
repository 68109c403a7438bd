#include "pipelines/training/time_budget.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/error.h"
#include "libcore/base/text.h"
#include "pipelines/tpu/tpu_config_loop.h"

namespace voxshard {
namespace {

constexpr double kUsedShare = 0.97;  // the rest is for checkpoints and for a machine that slows down

}  // namespace

double seconds_from_text(const std::string& text) {
  try {
    if (const IterationsPerLoop loop = iterations_per_loop_from_text(text); loop.duration_s > 0)
      return static_cast<double>(loop.duration_s);
  } catch (const Error&) {  // said below in words of this setting
  }
  throw Error(ErrorKind::kUsage,
              "[usage] {time} is \"" + text + "\"; expected a whole number with s, m or h, like 90s, 30m or 1h");
}

std::int64_t steps_in_time(const MeasuredTimes& t) {
  const double validations = t.validate_every > 0 ? t.validation_s / static_cast<double>(t.validate_every) : 0;
  const double steps = std::floor((kUsedShare * t.time_s - t.validation_s) / (t.step_s + validations));
  return static_cast<std::int64_t>(std::clamp(steps, 1.0, kMostSteps));
}

std::string overrun_text(const MeasuredTimes& t) {
  const double least_s = t.step_s + t.validation_s;
  if (least_s <= t.time_s) return "";
  return "{time} is too short: one step" +
         std::string(t.validation_s > 0 ? " and the validation at the end take" : " takes") + " about " +
         fixed_text(least_s, 1) + " s, and " + fixed_text(std::max(t.time_s, 0.0), 1) +
         " s are left of it; the run does one step and learns next to nothing. Give more time" +
         (t.validation_s > 0 ? ", or validate nothing with {fold} all" : "");
}

}  // namespace voxshard
