// Selects frames of a video: a part of it, every n-th frame, or a number of frames per second. A pure function of the
// index; nothing is decoded or interpolated, so a frame is never taken twice.
//
//   FrameSelection choice{.stride = 5, .range = frame_range_from_text("1.5s:20s")};
//   for (std::int64_t frame : select_frames(index, choice)) ...
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/video/video_index.h"

namespace voxshard {

/// [begin, end) in frames, or in seconds after the first timestamp. No end: to the end of the video.
struct FrameRange {
  bool in_seconds = false;
  Rational begin{0, 1};
  std::optional<Rational> end;
};

struct FrameSelection {
  std::int64_t stride = 1;             // every stride-th frame of the range, its first included
  std::optional<Rational> per_second;  // takes the frame that is shown at each tick of this rate; excludes stride > 1
  FrameRange range;
};

/// Parses "100:200", "100:", ":50" in frames; "1.5s:20s", "2s:" in seconds. Errors: kUsage shows the form.
FrameRange frame_range_from_text(const std::string& text);
/// Parses "5", "7.5", "30000/1001"; more than 0. Errors: kUsage.
Rational frames_per_second_from_text(const std::string& text);

/// Returns frame numbers in ascending order; may be empty. The clock of per_second starts at the first frame of the
/// range; tick k takes the last frame with pts - start <= k / per_second. A video slower than the clock gives each
/// frame once.
/// Errors: kUsage for stride < 1, stride > 1 together with per_second, per_second <= 0.
std::vector<std::int64_t> select_frames(const VideoIndex& index, const FrameSelection& selection);

}  // namespace voxshard
