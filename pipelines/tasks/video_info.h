// The report of `voxshard info` about a video: its headers, and the frames that it really contains.
//
//   VideoInfo info = read_video_info("clip.mp4", {.threads = 2});
//   to_json(info)["frames"];                                        // 1500, counted by decoding
#pragma once

#include "io/video/stream.h"
#include "io/video/video_index.h"
#include "pipelines/engine/requests.h"

namespace voxshard {

struct VideoInfo {
  std::filesystem::path path;
  std::uintmax_t file_bytes = 0;
  VideoStream stream;
  VideoIndex index;
  std::vector<std::string> notes;  // anomalies and damage; the frames that were counted can be used
};

/// Reads the headers and counts the frames of a video. Errors: kInput as VideoReader.
VideoInfo read_video_info(const std::filesystem::path& path, const InfoOptions& options);

/// Times are in seconds and, as "..._ticks", exact in the stream's time base; rationals are texts such as "30000/1001".
nlohmann::ordered_json to_json(const VideoInfo& info);
std::string to_text(const VideoInfo& info);

/// Bytes per pixel of a video decoder: its reference frames (4:2:0, 8 bits), and one frame while it is converted to
/// RGB.
inline constexpr double kDecoderBytes = 20 * 1.5 + 3;

/// Returns the bytes of writing a video as VideoWriter does: for each thread of libx264 a frame in flight with its
/// half-pel planes, one more as reference, and a frame as RGB and as YUV. The factors are those of peaks with and
/// without a drawn copy, of 640x480 to 1920x1080 and 1 to 4 threads.
double encoder_bytes(std::int64_t pixels, int threads);

/// Returns the bytes of drawing into a copy of a video (io/video/video_copy.h) beside its frames: the encoder's, and
/// where the copy is larger, a frame of it.
///   pixels, drawn  of a frame of the video, and of the copy
double drawn_copy_bytes(std::int64_t pixels, std::int64_t drawn, int threads);

/// Returns the videos of a folder (is_video_name), sorted by name; may be empty. Errors: kInput when the folder cannot
/// be read.
std::vector<std::filesystem::path> video_files(const std::filesystem::path& folder);

}  // namespace voxshard
