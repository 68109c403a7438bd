#include "pipelines/tasks/time_lines/time_line.h"

#include "libcore/metrics/classified.h"

namespace voxshard {
namespace {

void add_to(std::vector<double>& sum, const std::vector<double>& values) {
  for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += values[c];
}

}  // namespace

void TimeLineMaker::add(FrameSpan frames, const std::vector<double>& probabilities) {
  if (sum_.empty()) sum_.assign(probabilities.size(), 0);
  ensure(frames.begin < frames.end && frames.begin >= settled_ && probabilities.size() == sum_.size() &&
             !sum_.empty() && (open_.empty() || frames.end >= open_.back().frames.end),
         "windows follow each other and have the same classes");
  settle(frames.begin);
  open_.push_back({frames, probabilities});
  add_to(sum_, probabilities);
  ++windows_;
}

/// Makes the segments of the frames before `until`, which no later window covers.
void TimeLineMaker::settle(std::int64_t until) {
  while (settled_ < until) {
    while (!open_.empty() && open_.front().frames.end <= settled_) open_.pop_front();
    if (open_.empty()) break;
    const std::int64_t end = std::min(until, open_.front().frames.end);  // all open windows have begun
    std::vector<double> mean(sum_.size(), 0);
    for (const Window& window : open_) add_to(mean, window.probabilities);
    for (double& p : mean) p /= static_cast<double>(open_.size());
    const std::int64_t label = likeliest(mean);
    segments_.push_back({{settled_, end}, label, mean[label]});
    settled_ = end;
  }
  settled_ = std::max(settled_, until);
}

TimeLine TimeLineMaker::finish() {
  if (!open_.empty()) settle(open_.back().frames.end);
  TimeLine line{.segments = std::move(segments_), .mean = std::move(sum_)};
  for (double& p : line.mean) p /= static_cast<double>(windows_);
  *this = TimeLineMaker();
  return line;
}

std::vector<TimeSegment> merged(std::span<const TimeSegment> segments) {
  std::vector<TimeSegment> intervals;
  double sum = 0;  // over the frames of the last interval
  for (const TimeSegment& s : segments) {
    const auto frames = static_cast<double>(s.frames.end - s.frames.begin);
    const bool goes_on =
        !intervals.empty() && intervals.back().frames.end == s.frames.begin && intervals.back().label == s.label;
    if (!goes_on) {
      intervals.push_back(s), sum = frames * s.probability;
      continue;
    }
    TimeSegment& last = intervals.back();
    last.frames.end = s.frames.end, sum += frames * s.probability;
    last.probability = sum / static_cast<double>(last.frames.end - last.frames.begin);
  }
  return intervals;
}

}  // namespace voxshard
