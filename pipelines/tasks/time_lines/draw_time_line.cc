#include "pipelines/tasks/time_lines/draw_time_line.h"

#include "io/files/atomic_file.h"
#include "io/image/draw_caption.h"
#include "io/image/time_band.h"
#include "io/video/video_copy.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

int colour_of(std::int64_t label) { return static_cast<int>(label) + 1; }  // 0 is black

/// Maps a frame to its position in time: 0 at the first frame, 1 at the end of the last one.
class Clock {
 public:
  explicit Clock(const VideoIndex& index)
      : index_(index), first_(shown_ticks(index, 0)), all_(shown_ticks(index, index.size()) - first_) {}

  double at(std::int64_t frame) const {
    return all_ > 0 ? static_cast<double>(shown_ticks(index_, frame) - first_) / static_cast<double>(all_) : 0;
  }

 private:
  const VideoIndex& index_;
  std::int64_t first_, all_;
};

TimeBand band_of(const VideoReader& video, std::int64_t times, const Clock& clock,
                 std::span<const TimeSegment> segments) {
  std::vector<BandPart> parts;
  for (const TimeSegment& s : merged(segments))
    parts.push_back({clock.at(s.frames.begin), clock.at(s.frames.end), colour_of(s.label)});
  return {times * video.stream().height, times * video.stream().width, parts};
}

}  // namespace

DrawReport draw_time_line(const DrawTimeLine& o, std::span<const TimeSegment> segments,
                          const std::vector<std::string>& classes, Progress& progress) {
  VideoReader video(o.video, {.threads = o.threads, .most_pixels = o.most_pixels, .scan = o.scan});
  const Clock clock(video.index());
  VideoCopy copy(o.drawn, video, o.threads);
  const TimeBand band = band_of(video, copy.times(), clock, segments);
  const Shape size{copy.times() * video.stream().height, copy.times() * video.stream().width, 3};
  DrawReport report;
  std::size_t at = 0;  // in the segments
  for (VideoFrame frame; video.next(frame);) {
    if (progress.stop_requested()) {
      report.interrupted = true;
      break;
    }
    while (at < segments.size() && segments[at].frames.end <= frame.number) ++at;
    Tensor rgb = copy.canvas(std::move(frame.rgb));
    if (rgb.shape() == size) {
      band.draw(rgb, clock.at(frame.number));
      if (at < segments.size() && segments[at].frames.begin <= frame.number)
        draw_caption(rgb, {.x = 0,
                           .y = band.top(),
                           .colour = colour_of(segments[at].label),
                           .text = classes.at(segments[at].label) + " " + fixed_text(segments[at].probability, 2)});
    }
    (copy.write(rgb, frame.pts_ticks) ? report.frames : report.not_drawn) += 1;
    if (copy.times() == 1) frame.rgb = std::move(rgb);  // its memory serves the next frame
    progress.update("draw", frame.number + 1, video.index().size(), o.name);
  }
  if (report.frames == 0 && !report.interrupted)
    throw Error(ErrorKind::kInput, "[input] " + o.video.string() +
                                       ": none of its frames can be drawn into; copy it again from its source");
  if (!report.interrupted || o.keeps_stopped) copy.close(!report.interrupted);
  if (!report.interrupted) remove_incomplete(o.drawn);
  return report;
}

}  // namespace voxshard
