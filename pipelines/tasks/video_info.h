// What `voxshard info` tells about a video: the headers, and the frames that are really there.
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
  std::vector<std::string> notes;  // what is odd or damaged; the frames that were counted can be used
};

/// Errors: kInput as VideoReader.
VideoInfo read_video_info(const std::filesystem::path& path, const InfoOptions& options);

/// Times are in seconds and, as "..._ticks", exact in the stream's time base; rationals are texts such as "30000/1001".
nlohmann::ordered_json to_json(const VideoInfo& info);
std::string to_text(const VideoInfo& info);

/// The videos of a folder by name (is_video_name); may be empty. Errors: kInput when the folder cannot be read.
std::vector<std::filesystem::path> video_files(const std::filesystem::path& folder);

}  // namespace voxshard
