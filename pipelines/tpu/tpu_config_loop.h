// iterations_per_loop: how many steps run between two looks of the host (progress, validation, checkpoint). A number of
// steps, or a time; the last loop is cut off at the last step. 40 a loop and 12 steps: one loop of 12.
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

  /// Whether a loop is over after `done` steps of the run and `elapsed_s` seconds of its own. Loops of steps end at
  /// multiples of them, also in a run that was stopped between and goes on: it looks when an undisturbed one does.
  bool ends(std::int64_t done, double elapsed_s) const {
    return duration_s > 0 ? elapsed_s >= static_cast<double>(duration_s) : done % steps == 0;
  }
  /// After how many steps of the run the loop began in which a run that has done `done` goes on. Requires steps > 0, or
  /// a time.
  std::int64_t begin_of(std::int64_t done) const { return duration_s > 0 ? done : done / steps * steps; }
  friend bool operator==(const IterationsPerLoop&, const IterationsPerLoop&) = default;
};

/// "100", "3600s", "60m", "1h". Errors: kConfig for anything but a positive whole number, with or without s, m or h.
IterationsPerLoop iterations_per_loop_from_text(std::string_view text);
/// "100", or the time in seconds: "3600s".
std::string to_text(const IterationsPerLoop& loop);

/// Whether a multiple of `every` lies in (before, done]; never for `every` 0. What is due every so many steps is done
/// at the first look after it.
inline bool is_due(std::int64_t before, std::int64_t done, std::int64_t every) {
  return every > 0 && done / every > before / every;
}

}  // namespace voxshard
