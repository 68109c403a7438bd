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

SizeInTime size_in_time(const SizeTrials& trials) {
  constexpr std::int64_t kMostWrong = 3;  // the factor by which a prediction may be too low
  SizeInTime found;
  std::string refused;
  for (std::size_t size = 0; size < trials.sizes.size(); ++size) {
    const bool is_smallest = size + 1 == trials.sizes.size();
    const std::string& text = trials.sizes[size].text;
    const std::int64_t wanted_steps = trials.sizes[size].wanted_steps;
    const auto refuse = [&](const std::string& why) { refused += "; " + text + ": " + why; };
    if (!is_smallest)
      if (const std::int64_t steps = steps_in_time(trials.predicted(size)); steps < wanted_steps / kMostWrong) {
        refuse("about " + counted(steps, "step") + ", not measured");
        continue;
      }
    trials.set(size);
    if (!is_smallest && !trials.fits()) {
      refuse("over the memory");
      continue;
    }
    found.size = size, found.times = trials.measured();
    const std::int64_t steps = steps_in_time(found.times);
    found.reason =
        counted(steps, "step") + " fit into {time}, at least " + std::to_string(wanted_steps) + " are wanted" + refused;
    if (steps >= wanted_steps) break;
    refuse(counted(steps, "step"));
  }
  return found;
}

}  // namespace voxshard
