// Writes a copy of a video with something drawn into its frames: the frames keep their pixel aspect ratio and
// timestamps, and their size, unless they are so small that letters could not be read.
//
//   VideoCopy copy("seen.mp4", video, 2);
//   for (VideoFrame frame; video.next(frame);) {
//     Tensor rgb = copy.canvas(std::move(frame.rgb));
//     draw(rgb), copy.write(rgb, frame.pts_ticks);
//   }
//   copy.close();
#pragma once

#include <filesystem>

#include "io/video/video_reader.h"
#include "io/video/video_writer.h"

namespace voxshard {

/// Returns how many times a copy is as high and as wide as a video: once, or for a small one as many whole times as its
/// longer side needs to have 480 pixels, at most 8.
std::int64_t enlargement(std::int64_t height, std::int64_t width);
/// Returns the pixels of a frame of the copy.
inline std::int64_t drawn_pixels(std::int64_t height, std::int64_t width) {
  const std::int64_t times = enlargement(height, width);
  return height * width * times * times;
}

/// Writes the frames that have the size of the first one and a later timestamp than the frame before.
class VideoCopy {
 public:
  /// `threads`: of the encoder. Errors: kOutput as VideoWriter.
  VideoCopy(const std::filesystem::path& path, const VideoReader& video, int threads);

  std::int64_t times() const { return times_; }
  /// Returns a frame of the video as it is drawn into: each pixel a square of times() by times(). A frame of another
  /// size than the first one's, which is not written, stays as it is.
  Tensor canvas(Tensor rgb) const;
  /// Writes a canvas. False for a frame that cannot be written. Errors: kOutput.
  bool write(const Tensor& rgb, std::int64_t pts_ticks);
  /// Closes the file as VideoWriter::close() does; without a frame no file appears.
  void close(bool complete = true);

 private:
  std::int64_t times_;
  Shape size_;  // of the copy
  std::int64_t first_ticks_, last_ticks_ = -1;
  VideoWriter writer_;
};

}  // namespace voxshard
