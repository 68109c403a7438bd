// How many steps fit into a time. They are fixed before the first step and kept in the run, so that the schedule of the
// learning rate ends when the time does, a resumed run goes on to the same bytes, and the same settings give the same
// run on a machine of another speed. Also the size of the model with which enough of them fit, and how many networks
// are trained side by side where there is time for more than one learns from.
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

/// The most networks side by side that are chosen.
inline constexpr std::int64_t kMostMembers = 5;
/// Samples of each case from which a network has learned what the cases tell. On 32 cases of head and neck CT 2000
/// steps, 62 samples of each, gave a mean Dice at most 0.02 above 500 steps (data/README.md).
inline constexpr std::int64_t kSamplesOfCase = 40;

/// Returns how many networks side by side have enough steps each, 1 to kMostMembers.
///   wanted  the fewest steps of each
///   times  of a step of one network
///   batch  samples of a step
///   cases  that train
std::int64_t members_in_time(const MeasuredTimes& times, std::int64_t wanted, std::int64_t batch, std::int64_t cases);

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
