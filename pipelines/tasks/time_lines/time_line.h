// The classes of a video over time, from the predictions of a classifier on windows.
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

/// A span of frames with the same likeliest class. The probability of a segment is the mean over the windows that cover
/// it, that of a merged interval the mean over its frames.
struct TimeSegment {
  FrameSpan frames;
  std::int64_t label = 0;
  double probability = 0;

  bool operator==(const TimeSegment&) const = default;
};

struct TimeLine {
  std::vector<TimeSegment> segments;  // in order; frames that no window covers are in none
  std::vector<double> mean;           // mean probability of every class over the windows; empty without a window
};

/// Builds a time line from windows in the order of ClipWindows; windows that could not be predicted are left out.
/// Memory: 32 bytes a segment, at most two segments a window, and the probabilities of the windows that overlap.
class TimeLineMaker {
 public:
  /// Adds a window. Errors: kInternal for a window that begins or ends before the previous one, has no frame, or has
  /// another number of classes.
  void add(FrameSpan frames, const std::vector<double>& probabilities);
  /// Returns the time line of all added windows.
  TimeLine finish();

 private:
  struct Window {
    FrameSpan frames;
    std::vector<double> probabilities;
  };
  void settle(std::int64_t until);

  std::deque<Window> open_;  // windows that later ones may overlap
  std::int64_t settled_ = 0;
  std::vector<TimeSegment> segments_;
  std::vector<double> sum_;
  std::int64_t windows_ = 0;
};

/// Merges adjacent segments of the same class.
std::vector<TimeSegment> merged(std::span<const TimeSegment> segments);

}  // namespace voxshard
