// Reads frames of a video at full resolution as RGB tensors, upright, with their exact presentation timestamps: in
// order, or any frame by its number. Memory does not grow with the length of the video, except for 24 bytes of index
// per frame.
//
//   VideoReader video("clip.mp4", {.threads = 2});
//   VideoFrame frame;
//   while (video.next(frame)) use(frame.number, frame.pts_ticks, frame.rgb);       // (H, W, 3) u8
//   if (video.read(700, frame)) ...
//   for (const auto& note : video.notes()) log(note);                              // descriptions of the damage
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/video/decoder.h"
#include "io/video/input.h"
#include "io/video/rgb.h"
#include "io/video/scan.h"
#include "io/video/stream.h"
#include "io/video/video_index.h"
#include "libcore/tensor/tensor.h"

namespace voxshard {

struct VideoReadOptions {
  int threads = 1;                              // for the decoder, and for the conversion to RGB
  bool decode_index = false;                    // true: the index is built by decoding all frames, not from the packets
  std::int64_t most_pixels = kMostFramePixels;  // per frame; a file whose header says more is refused
  std::shared_ptr<const VideoScan> scan = {};   // scan of the same file by an earlier reader, which is then reused
};

struct VideoFrame {
  std::int64_t number = 0;     // in the index
  std::int64_t pts_ticks = 0;  // in ticks of the stream's time base
  Tensor rgb;                  // (H, W, 3) u8, red first, turned as the file asks
};

/// Threads: one at a time.
class VideoReader {
 public:
  /// Reads the headers and builds the index. A file whose packets carry no usable timestamps is decoded for it.
  /// Errors: kInput names the file, what is wrong and what to do; kInput too when there is not one frame; E_SIZE when
  /// its frames are too large.
  explicit VideoReader(const std::filesystem::path& path, const VideoReadOptions& options = {});

  const VideoStream& stream() const { return stream_; }
  const VideoIndex& index() const { return scan_->index; }
  /// The scan that the index was built from, for further readers of the same file.
  const std::shared_ptr<const VideoScan>& scan() const { return scan_; }
  const std::filesystem::path& path() const { return input_.path(); }

  /// Reads the next frame that can be decoded; false at the end. `frame.rgb` is overwritten, and its memory reused when
  /// the size fits. Frames differ in size only where the stream changes its size (see notes()).
  bool next(VideoFrame& frame);

  /// Reads the frame of this number by decoding from the keyframe before it; false when it is too damaged to decode.
  /// next() continues after it. Reading forwards does not decode anything twice. Requires 0 <= number < index().size().
  bool read(std::int64_t number, VideoFrame& frame);

  /// Returns one sentence for each irregularity or damage in the index and in the frames decoded so far.
  std::vector<std::string> notes() const;

 private:
  void rewind();
  bool decode();
  bool decode_to_count(std::int64_t number);
  bool decode_to_time(std::int64_t number);
  bool seek_to_time(std::int64_t number);
  void deliver(VideoFrame& frame);

  VideoInput input_;
  VideoStream stream_;
  std::shared_ptr<const VideoScan> scan_;
  VideoDecoder decoder_;
  RgbConverter to_rgb_;
  AvFramePtr image_;            // last decoded image
  bool waiting_ = false;        // true: image_ was decoded but not yet returned
  std::int64_t number_ = -1;    // number of image_; -1 before the first one
  std::int64_t pts_ticks_ = 0;  // timestamp of image_
  bool from_start_ = true;      // true: no frame was skipped since the start of the file
  bool at_end_ = false;
  std::set<std::int64_t> lost_;  // frames in the index that cannot be decoded
  std::optional<std::int64_t> size_changed_at_;
  Tensor stored_;  // image before rotation
};

}  // namespace voxshard
