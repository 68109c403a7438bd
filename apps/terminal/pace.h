// The speed of a stage in pieces, for the time that remains. The first piece does not count: it includes one-time work
// (memory, reordered weights, a first read of the disk), and the time before it is unknown.
//
//   Pace pace;
//   pace.update(0, 0);  pace.update(9, 1);  pace.update(11, 2);   // seconds, pieces done
//   pace.seconds_each();                                          // 2
#pragma once

#include <cstdint>
#include <optional>

namespace voxshard {

class Pace {
 public:
  /// Notes that `done` pieces are complete at `seconds` of a clock. The first call sets the start of the stage (not 0
  /// for a resumed run); `done` must not decrease.
  void update(double seconds, std::int64_t done);

  std::int64_t begun_at() const { return begun_at_.value_or(0); }
  std::int64_t done() const { return done_; }
  /// Returns the seconds per piece after the first; nullopt before two pieces, or while the time is too short to
  /// measure.
  std::optional<double> seconds_each() const;

 private:
  std::optional<std::int64_t> begun_at_;
  std::optional<std::int64_t> first_;       // pieces done after the first progress
  double first_seconds_ = 0, seconds_ = 0;  // times of first_ and done_
  std::int64_t done_ = 0;
};

}  // namespace voxshard
