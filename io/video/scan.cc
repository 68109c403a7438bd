#include "io/video/scan.h"

#include <algorithm>
#include <unordered_map>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

namespace voxshard {
namespace {

bool grows_strictly(const std::vector<IndexedFrame>& frames) {
  return std::adjacent_find(frames.begin(), frames.end(), [](const IndexedFrame& a, const IndexedFrame& b) {
           return a.pts_ticks >= b.pts_ticks;
         }) == frames.end();
}

/// Timestamps are at most 2^60 (shown_at): the sum of one and a duration, or the intervals of 2^28 frames, does not
/// overflow.
constexpr std::int64_t kMostDuration = std::int64_t{1} << 60, kMostInterval = std::int64_t{1} << 32;

/// Returns the ticks from frame to frame by the frame rate in the stream's header, at least 1.
std::int64_t stated_interval(const VideoInput& input) {
  const AVRational rate = av_guess_frame_rate(&input.format(), &input.stream(), nullptr);
  if (rate.num <= 0 || rate.den <= 0) return 1;
  return std::clamp<std::int64_t>(av_rescale_q(1, av_inv_q(rate), input.stream().time_base), 1, kMostInterval);
}

}  // namespace

VideoScan scan_packets(VideoInput& input) {
  VideoScan scan;
  scan.index.time_base = input.time_base();
  const AvPacketPtr packet = make_packet();
  while (input.read(*packet)) {
    ++scan.packets;
    if (packet->flags & AV_PKT_FLAG_DISCARD) {
      ++scan.hidden;
      continue;
    }
    const auto pts = shown_at(*packet);
    if (!pts) {
      ++scan.without_pts;
      continue;
    }
    scan.index.frames.push_back({.pts_ticks = *pts,
                                 .duration_ticks = std::clamp<std::int64_t>(packet->duration, 0, kMostDuration),
                                 .keyframe = (packet->flags & AV_PKT_FLAG_KEY) != 0});
  }
  auto& frames = scan.index.frames;
  std::stable_sort(frames.begin(), frames.end(),
                   [](const auto& a, const auto& b) { return a.pts_ticks < b.pts_ticks; });
  scan.index.by_timestamp = scan.without_pts == 0 && grows_strictly(frames);
  scan.ending = input.ending();
  return scan;
}

VideoScan scan_by_decoding(VideoInput& input, int threads) {
  input.rewind();
  VideoScan scan = scan_packets(input);
  std::unordered_map<std::int64_t, IndexedFrame> packets;
  for (const auto& frame : scan.index.frames) packets[frame.pts_ticks] = frame;
  auto& frames = scan.index.frames;
  frames.clear();
  scan.without_pts = 0;
  input.rewind();
  VideoDecoder decoder(input, threads);
  const AvFramePtr frame = make_frame();
  const std::int64_t interval = stated_interval(input);
  bool own = true;
  while (decoder.next(input, *frame)) {
    auto pts = shown_at(*frame);
    own = own && pts && has_own_timestamp(*frame);
    scan.without_pts += !pts.has_value();
    if (!pts) pts = frames.empty() ? 0 : frames.back().pts_ticks + interval;
    const auto packet = packets.find(*pts);
    frames.push_back(packet == packets.end() ? IndexedFrame{.pts_ticks = *pts} : packet->second);
  }
  scan.index.decoded = true;
  scan.index.by_timestamp = own && grows_strictly(frames);
  scan.damage = decoder.damage();
  if (scan.ending.empty()) scan.ending = input.ending();
  return scan;
}

}  // namespace voxshard
