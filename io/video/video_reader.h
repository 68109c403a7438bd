// Frames of a video at full resolution as RGB tensors, upright, with their exact presentation timestamps: in order, or
// any frame by its number. Memory does not grow with the length of the video, apart from 24 bytes of index per frame.
//
//   VideoReader video("clip.mp4", {.threads = 2});
//   VideoFrame frame;
//   while (video.next(frame)) use(frame.number, frame.pts_ticks, frame.rgb);       // (H, W, 3) u8
//   if (video.read(700, frame)) ...
//   for (const auto& note : video.notes()) log(note);                              // what was damaged
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
  int threads = 1;                              // of the decoder, and of the conversion to RGB
  bool decode_index = false;                    // count the frames by decoding them all once, instead of by the packets
  std::int64_t most_pixels = kMostFramePixels;  // of a frame; a file that promises more is refused
  std::shared_ptr<const VideoScan> scan = {};   // of the same file, by a reader before: it is not scanned again
};

struct VideoFrame {
  std::int64_t number = 0;     // in the index
  std::int64_t pts_ticks = 0;  // of the stream's time base
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
  /// What the index was built from, for further readers of the same file.
  const std::shared_ptr<const VideoScan>& scan() const { return scan_; }
  const std::filesystem::path& path() const { return input_.path(); }

  /// The next frame that decodes; false at the end. `frame.rgb` is overwritten, and reused when its size fits. Frames
  /// differ in size only where the stream changes its size (see notes()).
  bool next(VideoFrame& frame);

  /// The frame of this number, by decoding from the keyframe before it; false when it is too damaged to decode. next()
  /// goes on behind it. Reading onwards does not decode anything twice. Requires 0 <= number < index().size().
  bool read(std::int64_t number, VideoFrame& frame);

  /// What is odd or damaged, one sentence each: of the index, and of the frames decoded so far.
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
  AvFramePtr image_;            // the last one decoded
  bool waiting_ = false;        // image_ was decoded and not handed out
  std::int64_t number_ = -1;    // of image_; -1 before the first one
  std::int64_t pts_ticks_ = 0;  // of image_
  bool from_start_ = true;      // nothing was passed over since the start of the file
  bool at_end_ = false;
  std::set<std::int64_t> lost_;  // frames in the index that do not decode
  std::optional<std::int64_t> size_changed_at_;
  Tensor stored_;  // before it is turned
};

}  // namespace voxshard
