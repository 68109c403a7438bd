// The clips (windows) of a video on which a prediction of the whole video runs: one every `hop` frames, and one at the
// end of the video.
//
//   ClipWindows windows(100, {.length = 16, .stride = 2, .hop = 32});
//   windows.count();                     // 4
//   windows.frames(2);                   // {64, 96}: it uses frames 64, 66, .., 94
//   windows.frames(3);                   // {69, 100}: the last frame that it uses is the last of the video, 99
#pragma once

#include <algorithm>
#include <cstdint>

#include "libcore/base/error.h"

namespace voxshard {

/// The size and spacing of windows: `length` frames at every `stride`-th frame of the video, one window every `hop`
/// frames.
struct ClipSteps {
  std::int64_t length = 16, stride = 1, hop = 16;

  /// Returns the number of frames from the first to the last one that a clip uses, both included.
  std::int64_t reach() const { return (length - 1) * stride + 1; }
  /// Returns the number of frames that a clip covers: up to the next clip without overlap.
  std::int64_t span() const { return length * stride; }
};

/// The frames [begin, end) of a video.
struct FrameSpan {
  std::int64_t begin = 0, end = 0;

  bool operator==(const FrameSpan&) const = default;
};

class ClipWindows {
 public:
  /// Requires a length, stride and hop of 1 or more whose products do not overflow. A video shorter than the reach of a
  /// clip has no window.
  ClipWindows(std::int64_t frames, const ClipSteps& steps) : frames_(frames), steps_(steps) {
    ensure(steps.length >= 1 && steps.stride >= 1 && steps.hop >= 1, "clips have frames and go on");
    if (frames < steps.reach()) return;
    const std::int64_t regular = (frames - steps.reach()) / steps.hop + 1;
    count_ = regular + ((regular - 1) * steps.hop + steps.span() < frames ? 1 : 0);
  }

  std::int64_t count() const { return count_; }
  /// Returns the first frame of a window. The begins increase from window to window, and the ends never decrease.
  std::int64_t begin(std::int64_t window) const { return std::min(window * steps_.hop, frames_ - steps_.reach()); }
  FrameSpan frames(std::int64_t window) const {
    return {begin(window), std::min(begin(window) + steps_.span(), frames_)};
  }
  /// True when a window uses a frame.
  bool looks_at(std::int64_t window, std::int64_t frame) const {
    const std::int64_t behind = frame - begin(window);
    return behind >= 0 && behind < steps_.reach() && behind % steps_.stride == 0;
  }
  /// Returns the first window, from `from` on, that uses the frame; count() when there is none.
  std::int64_t first_looking_at(std::int64_t frame, std::int64_t from) const {
    // Windows that end before the frame are skipped at once.
    const std::int64_t first = std::max(from, (frame - steps_.reach() + steps_.hop) / steps_.hop);
    for (std::int64_t w = std::min(first, count_ - 1); w >= from && w < count_ && begin(w) <= frame; ++w)
      if (looks_at(w, frame)) return w;
    return count_;
  }
  const ClipSteps& steps() const { return steps_; }

 private:
  std::int64_t frames_, count_ = 0;
  ClipSteps steps_;
};

}  // namespace voxshard
