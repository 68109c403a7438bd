#include "pipelines/tasks/detection/video_info.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "io/video/video_reader.h"
#include "libcore/base/error.h"

namespace voxshard {

namespace fs = std::filesystem;

VideoInfo read_video_info(const fs::path& path, const VideoInfoOptions& options) {
  const VideoReader video(path, {.threads = options.threads, .decode_index = !options.quick});
  std::error_code error;
  return {.path = path,
          .file_bytes = fs::file_size(path, error),
          .stream = video.stream(),
          .index = video.index(),
          .notes = video.notes()};
}

nlohmann::ordered_json to_json(const VideoInfo& info) {
  const VideoStream& s = info.stream;
  const VideoIndex& index = info.index;
  const FrameRate rate = frame_rate(index);
  const std::int64_t last = index.size() - 1;
  return {
      {"path", info.path.string()},
      {"container", s.container},
      {"stream_index", s.stream_index},
      {"codec", s.codec},
      {"width", s.width},
      {"height", s.height},
      {"stored_width", s.stored_width},
      {"stored_height", s.stored_height},
      {"rotation_degrees", s.orientation.clockwise_degrees()},
      {"mirrored", s.orientation.mirrored()},
      {"sample_aspect", rational_text(s.sample_aspect)},
      {"pixel_format", s.pixel_format},
      {"bits", s.bits},
      {"colour_matrix", s.colour_matrix},
      {"colour_range", s.colour_range},
      {"time_base", rational_text(s.time_base)},
      {"frames", index.size()},
      {"frames_counted_by", index.decoded ? "decoding" : "packets"},
      {"header_frames", s.header_frames},
      {"keyframes", std::count_if(index.frames.begin(), index.frames.end(), [](const auto& f) { return f.keyframe; })},
      {"first_pts_ticks", index[0].pts_ticks},
      {"last_pts_ticks", index[last].pts_ticks},
      {"first_seconds", index.seconds(0)},
      {"last_seconds", index.seconds(last)},
      {"duration_seconds", duration_s(index)},
      {"constant_frame_rate", rate.constant},
      {"frames_per_second", rational_text(rate.per_second)},
      {"shortest_interval_ticks", rate.shortest_ticks},
      {"longest_interval_ticks", rate.longest_ticks},
      {"file_bytes", info.file_bytes},
      {"notes", info.notes}};
}

std::vector<fs::path> video_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (is_video_name(it->path()) && !it->is_directory(error)) files.push_back(it->path());
  if (error) throw Error(ErrorKind::kInput, "[" + folder.string() + "] cannot be read: " + error.message());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace voxshard
