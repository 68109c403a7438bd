// The classes of a video over its length, from the windows that a classifier looked at.
//
//   TimeLineMaker maker;
//   maker.add({0, 32}, {0.9, 0.1}), maker.add({16, 48}, {0.3, 0.7});
//   TimeLine line = maker.finish();
//   line.segments;                       // {0, 16} class 0, {16, 32} class 0 (0.6 and 0.4), {32, 48} class 1
//   merged(line.segments);               // {0, 32} class 0 of 0.75, {32, 48} class 1 of 0.7
//   line.mean;                           // {0.6, 0.4}
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "pipelines/tasks/time_lines/clip_windows.h"

namespace voxshard {

/// Frames of one likeliest class; its probability is the mean over the windows that cover them, of an interval the mean
/// over its frames.
struct TimeSegment {
  FrameSpan frames;
  std::int64_t label = 0;
  double probability = 0;

  bool operator==(const TimeSegment&) const = default;
};

struct TimeLine {
  std::vector<TimeSegment> segments;  // in order; what no window covers is in none
  std::vector<double> mean;           // over the windows, of every class; empty without a window
};

/// Windows come in the order of ClipWindows; those that could not be predicted are left out. Memory: 32 bytes a
/// segment, of which there are at most two a window, and the probabilities of the windows that overlap.
class TimeLineMaker {
 public:
  /// Errors: kInternal for a window that begins or ends before the one before it, or has no frame or other classes.
  void add(FrameSpan frames, const std::vector<double>& probabilities);
  /// All that was added.
  TimeLine finish();

 private:
  struct Window {
    FrameSpan frames;
    std::vector<double> probabilities;
  };
  void settle(std::int64_t until);

  std::deque<Window> open_;  // that later ones may overlap
  std::int64_t settled_ = 0;
  std::vector<TimeSegment> segments_;
  std::vector<double> sum_;
  std::int64_t windows_ = 0;
};

/// Segments that touch and are of one class become one.
std::vector<TimeSegment> merged(std::span<const TimeSegment> segments);

}  // namespace voxshard
