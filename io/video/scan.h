// Two ways to build the index of a video: reading its packets (fast: nothing is decoded), or decoding every frame
// (exact for damaged files, and the only way for files whose packets carry no presentation timestamps).
//
//   VideoScan scan = scan_packets(input);
//   if (!scan.index.by_timestamp) scan = scan_by_decoding(input, 2);
#pragma once

#include <cstdint>

#include "io/video/decoder.h"
#include "io/video/video_index.h"

namespace voxshard {

struct VideoScan {
  VideoIndex index;
  std::int64_t packets = 0;
  std::int64_t hidden = 0;       // packets that an edit list leaves out: other frames need them, but they are not shown
  std::int64_t without_pts = 0;  // packets, or decoded frames, without a timestamp in the file
  DecodeDamage damage;           // found by scan_by_decoding
  std::string ending;            // reason why reading stopped before the end of the file; else empty
};

/// Builds the index from the packets and leaves `input` at its end. index.by_timestamp is false when a packet has no
/// timestamp, or the same one as another; such an index is incomplete. Cost: the file is read once; 24 bytes a frame.
VideoScan scan_packets(VideoInput& input);

/// Decodes the whole file; durations and keyframes come from the packets. Frames without a timestamp get one from the
/// stream's frame rate. Leaves `input` at its end.
VideoScan scan_by_decoding(VideoInput& input, int threads);

}  // namespace voxshard
