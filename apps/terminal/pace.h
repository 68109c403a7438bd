// How fast the pieces of a stage come, and when it will be done. The first piece counts for nothing: it pays for what
// is made once (memory, reordered weights, a first read of the disk), and what came before it is unknown.
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
  /// `done` pieces at `seconds` of a clock. The first call tells where the stage begins (a resumed run: not at 0); what
  /// is done must not fall.
  void update(double seconds, std::int64_t done);

  std::int64_t begun_at() const { return begun_at_.value_or(0); }
  std::int64_t done() const { return done_; }
  /// Of a piece after the first; nothing before there are two, or while they are too quick to tell.
  std::optional<double> seconds_each() const;

 private:
  std::optional<std::int64_t> begun_at_;
  std::optional<std::int64_t> first_;       // what was done when the first piece, or pieces, had come
  double first_seconds_ = 0, seconds_ = 0;  // of first_ and done_
  std::int64_t done_ = 0;
};

}  // namespace voxshard
