// Which clips of a video are looked at when all of it is predicted: one every `hop` frames, and one that ends the
// video.
//
//   ClipWindows windows(100, {.length = 16, .stride = 2, .hop = 32});
//   windows.count();                     // 4
//   windows.frames(2);                   // {64, 96}: it looks at 64, 66, .., 94
//   windows.frames(3);                   // {69, 100}: the last frame that it looks at is the last one, 99
#pragma once

#include <algorithm>
#include <cstdint>

#include "libcore/base/error.h"

namespace voxshard {

/// `length` frames, of every `stride`-th of the video, beginning every `hop` frames.
struct ClipSteps {
  std::int64_t length = 16, stride = 1, hop = 16;

  /// From the first frame of a clip to behind its last one.
  std::int64_t reach() const { return (length - 1) * stride + 1; }
  /// What a clip stands for: the frames until the clip that would follow it without overlap.
  std::int64_t span() const { return length * stride; }
};

/// Of the frames of a video [begin, end).
struct FrameSpan {
  std::int64_t begin = 0, end = 0;

  bool operator==(const FrameSpan&) const = default;
};

class ClipWindows {
 public:
  /// Requires lengths, strides and hops of 1 or more, whose products are no overflow. A video shorter than the reach of
  /// a clip has no window.
  ClipWindows(std::int64_t frames, const ClipSteps& steps) : frames_(frames), steps_(steps) {
    ensure(steps.length >= 1 && steps.stride >= 1 && steps.hop >= 1, "clips have frames and go on");
    if (frames < steps.reach()) return;
    const std::int64_t regular = (frames - steps.reach()) / steps.hop + 1;
    count_ = regular + ((regular - 1) * steps.hop + steps.span() < frames ? 1 : 0);
  }

  std::int64_t count() const { return count_; }
  /// Begins grow from window to window, ends never fall.
  std::int64_t begin(std::int64_t window) const { return std::min(window * steps_.hop, frames_ - steps_.reach()); }
  FrameSpan frames(std::int64_t window) const {
    return {begin(window), std::min(begin(window) + steps_.span(), frames_)};
  }
  /// Whether a window looks at a frame.
  bool looks_at(std::int64_t window, std::int64_t frame) const {
    const std::int64_t behind = frame - begin(window);
    return behind >= 0 && behind < steps_.reach() && behind % steps_.stride == 0;
  }
  /// The first window of `from` and on that looks at the frame; count() when there is none.
  std::int64_t first_looking_at(std::int64_t frame, std::int64_t from) const {
    // Those that end before it are passed over at once.
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
