// Writes a copy of a video with something drawn into its frames: the frames keep their size, pixel aspect ratio and
// timestamps.
//
//   VideoCopy copy("seen.mp4", video, 2);
//   for (VideoFrame frame; video.next(frame);) draw(frame.rgb), copy.write(frame.rgb, frame.pts_ticks);
//   copy.close();
#pragma once

#include <filesystem>

#include "io/video/video_reader.h"
#include "io/video/video_writer.h"

namespace voxshard {

/// Writes the frames that have the size of the first one and a later timestamp than the frame before.
class VideoCopy {
 public:
  /// `threads`: of the encoder. Errors: kOutput as VideoWriter.
  VideoCopy(const std::filesystem::path& path, const VideoReader& video, int threads);

  /// False for a frame that cannot be written. Errors: kOutput.
  bool write(const Tensor& rgb, std::int64_t pts_ticks);
  /// Closes the file as VideoWriter::close() does; without a frame no file appears.
  void close(bool complete = true);

 private:
  Shape size_;
  std::int64_t first_ticks_, last_ticks_ = -1;
  VideoWriter writer_;
};

}  // namespace voxshard
