// iterations_per_loop: the number of steps, or the time, between two rounds of host work (progress, validation,
// checkpoint). The last loop ends at the last step: 40 steps a loop and 12 steps in all give one loop of 12.
//
//   IterationsPerLoop loop = iterations_per_loop_from_text("60m");
//   if (loop.ends(steps_done, seconds_since_the_last_look)) look();
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace voxshard {

struct IterationsPerLoop {
  std::int64_t steps = 1;       // 0: the loop is a time
  std::int64_t duration_s = 0;  // 0: the loop is a number of steps

  /// Returns true when a loop ends after `done` steps of the run and `elapsed_s` seconds of the loop. Loops of steps
  /// end at multiples of `steps`, also in a resumed run: its host work happens at the same steps as in an uninterrupted
  /// one.
  bool ends(std::int64_t done, double elapsed_s) const {
    return duration_s > 0 ? elapsed_s >= static_cast<double>(duration_s) : done % steps == 0;
  }
  /// Returns the step of the run at which the loop began that a run resumed after `done` steps continues. Requires
  /// steps > 0, or a time.
  std::int64_t begin_of(std::int64_t done) const { return duration_s > 0 ? done : done / steps * steps; }
  friend bool operator==(const IterationsPerLoop&, const IterationsPerLoop&) = default;
};

/// Parses "100", "3600s", "60m", "1h". Errors: kConfig for anything but a positive whole number, with or without s, m
/// or h.
IterationsPerLoop iterations_per_loop_from_text(std::string_view text);
/// Returns "100", or the time in seconds: "3600s".
std::string to_text(const IterationsPerLoop& loop);

/// Returns true when a multiple of `every` lies in (before, done]; false for `every` 0. Periodic work is done in the
/// first round of host work after it is due.
inline bool is_due(std::int64_t before, std::int64_t done, std::int64_t every) {
  return every > 0 && done / every > before / every;
}

}  // namespace voxshard
