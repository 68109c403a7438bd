#include "pipelines/training/time_budget.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/error.h"
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

}  // namespace voxshard
