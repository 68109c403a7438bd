// Writes RGB frames to an MP4, MOV or MKV file, as H.264 where FFmpeg was built with libx264, else as MPEG-4. The file
// appears whole or not at all; every frame keeps its given timestamp.
//
//   VideoWriter out("annotated.mp4", {.width = 1024, .height = 1024, .time_base = video.stream().time_base});
//   while (video.next(frame)) out.write(drawn(frame.rgb), frame.pts_ticks);
//   out.close();
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "io/output/output_file.h"
#include "io/video/video_index.h"
#include "libcore/tensor/tensor.h"

namespace voxshard {

struct VideoWriteOptions {
  std::int64_t width = 0, height = 0;  // of every frame; odd sizes grow by a copy of the last row or column, for 4:2:0
  Rational time_base{1, 25};           // seconds per tick of the timestamps
  Rational sample_aspect{1, 1};        // width of a pixel over its height
  int threads = 1;                     // for the encoder
};

/// Describes files that a VideoWriter made, for require_output_file: their comment metadata says so.
OutputKind written_video();

class VideoWriter {
 public:
  /// Errors: kOutput for a name that does not end in .mp4, .mov or .mkv, for a file that cannot be made, and where
  /// FFmpeg has no encoder.
  VideoWriter(const std::filesystem::path& path, const VideoWriteOptions& options);
  /// Without close() nothing is left behind.
  ~VideoWriter();
  VideoWriter(const VideoWriter&) = delete;
  VideoWriter& operator=(const VideoWriter&) = delete;

  /// `rgb`: (height, width, 3) u8, red first. `pts_ticks` grows from frame to frame and is 0 or more. MP4 and MOV store
  /// it exactly (their ticks may be finer by a power of two); MKV stores milliseconds, to which it is rounded. Errors:
  /// kOutput with the reason, such as a full disk.
  void write(const Tensor& rgb, std::int64_t pts_ticks);

  /// Ends the file and gives it its name; incomplete_path() when `complete` is false. Requires at least one frame.
  /// Errors: kOutput.
  void close(bool complete = true);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace voxshard
