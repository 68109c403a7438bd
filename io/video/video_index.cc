#include "io/video/video_index.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace voxshard {

Rational reduced(std::int64_t num, std::int64_t den) {
  const std::int64_t divisor = std::gcd(num, den) * (den < 0 ? -1 : 1);
  return {num / divisor, den / divisor};
}

std::string rational_text(const Rational& r) {
  return std::to_string(r.num) + (r.den == 1 ? "" : "/" + std::to_string(r.den));
}

double VideoIndex::seconds(std::int64_t frame) const {
  return static_cast<double>((*this)[frame].pts_ticks) * time_base.value();
}

std::int64_t VideoIndex::keyframe_at_or_before(std::int64_t frame) const {
  while (frame > 0 && !(*this)[frame].keyframe) --frame;
  return frame;
}

std::int64_t VideoIndex::first_at_or_after(std::int64_t pts_ticks) const {
  const auto at = std::lower_bound(frames.begin(), frames.end(), pts_ticks,
                                   [](const IndexedFrame& f, std::int64_t ticks) { return f.pts_ticks < ticks; });
  return at - frames.begin();
}

FrameRate frame_rate(const VideoIndex& index) {
  FrameRate rate;
  const auto& frames = index.frames;
  if (frames.size() < 2) return rate;
  const std::int64_t first = frames.front().pts_ticks, span = frames.back().pts_ticks - first;
  const auto intervals = static_cast<std::int64_t>(frames.size()) - 1;
  rate.shortest_ticks = std::numeric_limits<std::int64_t>::max();
  rate.longest_ticks = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 1; i < frames.size(); ++i) {
    const std::int64_t step = frames[i].pts_ticks - frames[i - 1].pts_ticks;
    rate.shortest_ticks = std::min(rate.shortest_ticks, step);
    rate.longest_ticks = std::max(rate.longest_ticks, step);
    const double beat = static_cast<double>(span) * (static_cast<double>(i) / static_cast<double>(intervals));
    if (std::abs(static_cast<double>(frames[i].pts_ticks - first) - beat) > 1.0) rate.constant = false;
  }
  if (span > 0) {
    // intervals / (span * time base); extreme timestamps need more than 64 bits in between
    __int128 num = static_cast<__int128>(intervals) * index.time_base.den;
    __int128 den = static_cast<__int128>(span) * index.time_base.num;
    for (const __int128 limit = std::numeric_limits<std::int64_t>::max(); num > limit || den > limit;)
      num /= 2, den /= 2;
    if (num > 0 && den > 0) rate.per_second = reduced(static_cast<std::int64_t>(num), static_cast<std::int64_t>(den));
  }
  return rate;
}

std::vector<std::int64_t> gaps(const VideoIndex& index) {
  std::vector<std::int64_t> intervals;
  for (std::int64_t i = 1; i < index.size(); ++i) intervals.push_back(index[i].pts_ticks - index[i - 1].pts_ticks);
  if (intervals.empty()) return {};
  std::vector<std::int64_t> sorted = intervals;
  std::sort(sorted.begin(), sorted.end());
  const std::int64_t usual = sorted[sorted.size() / 2];
  const auto alike = std::count_if(intervals.begin(), intervals.end(),
                                   [&](std::int64_t ticks) { return ticks >= usual - 1 && ticks <= usual + 1; });
  if (usual <= 0 || 10 * alike < 9 * static_cast<std::int64_t>(intervals.size())) return {};
  std::vector<std::int64_t> found;
  for (std::size_t i = 0; i < intervals.size(); ++i)
    if (intervals[i] > usual + std::max<std::int64_t>(usual / 2, 1)) found.push_back(static_cast<std::int64_t>(i));
  return found;
}

namespace {

/// Returns the duration of the last frame in ticks. Requires a frame.
double last_ticks(const VideoIndex& index) {
  const auto& frames = index.frames;
  if (frames.back().duration_ticks > 0) return static_cast<double>(frames.back().duration_ticks);
  if (frames.size() < 2) return 0;
  return static_cast<double>(frames.back().pts_ticks - frames.front().pts_ticks) /
         static_cast<double>(frames.size() - 1);
}

}  // namespace

double duration_s(const VideoIndex& index) {
  const auto& frames = index.frames;
  if (frames.empty()) return 0;
  const auto span = static_cast<double>(frames.back().pts_ticks - frames.front().pts_ticks);
  return (span + last_ticks(index)) * index.time_base.value();
}

std::int64_t shown_ticks(const VideoIndex& index, std::int64_t frame) {
  if (frame < index.size()) return index[frame].pts_ticks;
  return index.frames.back().pts_ticks + std::llround(std::min(last_ticks(index), 0x1p60));
}

}  // namespace voxshard
