// The index of a video: its frames with their presentation times, used for counting, seeking, selecting frames and
// writing results. Times are exact: whole ticks of the stream's time base, as the file stores them.
//
//   VideoIndex index = VideoReader("clip.mp4").index();
//   index.seconds(7);                                   // 0.28 for tick 3584 of 1/12800 s
//   FrameRate rate = frame_rate(index);                 // {.constant = true, .per_second = {25, 1}}
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace voxshard {

/// num / den, den > 0.
struct Rational {
  std::int64_t num = 0, den = 1;

  double value() const { return static_cast<double>(num) / static_cast<double>(den); }
  bool operator==(const Rational&) const = default;
};

/// Returns num / den in lowest terms, den > 0. `den` must not be 0.
Rational reduced(std::int64_t num, std::int64_t den);
/// "30000/1001", "25".
std::string rational_text(const Rational& r);

struct IndexedFrame {
  std::int64_t pts_ticks = 0;       // presentation timestamp, as stored: the first need not be 0
  std::int64_t duration_ticks = 0;  // as the container says; 0 when it does not
  bool keyframe = false;            // decoding can start here
};

struct VideoIndex {
  Rational time_base{1, 1};          // seconds per tick
  std::vector<IndexedFrame> frames;  // in the order they are shown
  /// True: every frame was decoded once, and these are the frames that decode. False: read from the packets, where a
  /// frame that cannot be decoded still counts.
  bool decoded = false;
  /// True: timestamps grow strictly and are those of the file, so a frame is found again by its timestamp. False:
  /// frames are found by counting from the start.
  bool by_timestamp = true;

  std::int64_t size() const { return static_cast<std::int64_t>(frames.size()); }
  const IndexedFrame& operator[](std::int64_t frame) const { return frames[frame]; }
  double seconds(std::int64_t frame) const;
  /// The last keyframe at or before `frame`; 0 when there is none.
  std::int64_t keyframe_at_or_before(std::int64_t frame) const;
  /// The first frame shown at `pts_ticks` or later; size() when there is none. Requires by_timestamp.
  std::int64_t first_at_or_after(std::int64_t pts_ticks) const;
};

struct FrameRate {
  /// True when every timestamp lies within one tick of a constant rate: containers round to their time base.
  bool constant = true;
  Rational per_second;                                 // the mean over the index; 0 for fewer than two frames
  std::int64_t shortest_ticks = 0, longest_ticks = 0;  // interval between neighbouring frames
};

FrameRate frame_rate(const VideoIndex& index);

/// Returns the frames after which frames seem to be missing: nine in ten intervals are equal to a tick, but the one
/// after such a frame is longer by more than half. Empty for a variable rate.
std::vector<std::int64_t> gaps(const VideoIndex& index);

/// Returns the time from the first timestamp to the end of the last frame, which lasts for its stated duration, else
/// for the mean interval.
double duration_s(const VideoIndex& index);

/// Returns the time at which a frame is shown, in ticks; for size() the end of the last frame, as above, rounded to a
/// tick.
/// Requires 0 <= frame <= size(), and a frame.
std::int64_t shown_ticks(const VideoIndex& index, std::int64_t frame);

}  // namespace voxshard
