// How many steps fit into a time. They are fixed before the first step and kept in the run, so that the schedule of the
// learning rate ends when the time does, a resumed run goes on to the same bytes, and the same settings give the same
// run on a machine of another speed. Also the size of the model with which enough of them fit.
//
//   steps_in_time({.time_s = 3600, .step_s = 2.5, .validation_s = 40})   // 1380
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace voxshard {

/// The most steps of a run: 30 years of one-second steps; products with samples stay far from overflow.
inline constexpr double kMostSteps = 1e9;

/// Parses "90s", "30m", "1h". Errors: kUsage for anything but a positive whole number with s, m or h.
double seconds_from_text(const std::string& text);

/// The time that a run takes on this machine.
struct MeasuredTimes {
  double time_s = 0;                // that training and validations may take
  double step_s = 0;                // of a step, > 0
  double validation_s = 0;          // of a validation
  std::int64_t validate_every = 0;  // steps between validations; 0: one at the end
};
/// Returns the steps that fit, at least 1; a part of the time is left for what varies.
std::int64_t steps_in_time(const MeasuredTimes& times);
/// Returns a warning where not even one step and the last validation fit; empty where they do.
std::string overrun_text(const MeasuredTimes& times);

/// A size of a model: for people ("32 filters"), and the steps that a training of it should have.
struct TriedSize {
  std::string text;
  std::int64_t wanted_steps = 1;
};

/// The sizes of a model, the largest first, and the calls by which they are tried.
struct SizeTrials {
  std::vector<TriedSize> sizes;
  std::function<MeasuredTimes(std::size_t size)> predicted;  // roughly, without a step
  std::function<void(std::size_t size)> set;                 // the size of the model
  std::function<bool()> fits;                                // the memory, with the size that was set last
  std::function<MeasuredTimes()> measured;                   // with the same
};
struct SizeInTime {
  std::size_t size = 0;
  MeasuredTimes times = {};
  std::string reason = {};
};
/// Returns the largest size whose wanted steps fit, or the smallest size; it is the last that was set. Sizes that the
/// prediction excludes by far are not measured.
SizeInTime size_in_time(const SizeTrials& trials);

}  // namespace voxshard
