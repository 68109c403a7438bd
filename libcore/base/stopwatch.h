// The one clock by which durations are measured.
//
//   Stopwatch watch;  work();  report.seconds = watch.seconds();
#pragma once

#include <chrono>

namespace voxshard {

class Stopwatch {
 public:
  /// Seconds since construction.
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace voxshard
