// The image properties in the headers of a video file: codec, pixel format, size as stored and as shown, colours.
//
//   VideoStream s = describe_stream(VideoInput("phone.mov"));
//   s.width, s.orientation.clockwise_degrees();             // 1080, 90 for a film stored as 1920 x 1080
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "io/video/input.h"
#include "io/video/orientation.h"
#include "io/video/video_index.h"

namespace voxshard {

/// Properties of the video stream. Names are FFmpeg's, as ffprobe prints them; "unknown" where the file does not say.
struct VideoStream {
  int stream_index = 0;                     // in the file, as ffprobe counts them
  std::string container;                    // "mov,mp4,m4a,3gp,3g2,mj2": all names of the reader
  std::string codec;                        // "h264"
  std::string pixel_format;                 // "yuv420p10le"
  int bits = 0;                             // per sample; 0 when unknown
  std::string colour_matrix, colour_range;  // "bt709", "tv" (16 to 235) or "pc" (0 to 255)
  std::int64_t stored_width = 0, stored_height = 0;
  VideoOrientation orientation;
  std::int64_t width = 0, height = 0;  // turned by the orientation: the size of the frames that are read
  Rational sample_aspect{1, 1};        // width of a pixel of the turned image over its height; 1 where unknown
  Rational time_base{1, 1};            // seconds per tick
  std::int64_t header_frames = 0;      // number of frames in the container's header; 0 when it does not say
  double header_duration_s = 0;        // of this stream; 0 when the container does not say
};

VideoStream describe_stream(const VideoInput& input);

/// True for names that end as videos do (.mp4, .mov, .mkv, .webm, .avi, .mpg and so on, in any case) and do not begin
/// with a dot. Any name can be opened; this is for picking files out of folders.
bool is_video_name(const std::filesystem::path& path);

}  // namespace voxshard
