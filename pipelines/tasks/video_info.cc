#include "pipelines/tasks/video_info.h"

#include <algorithm>
#include <system_error>

#include "io/video/video_reader.h"
#include "libcore/base/error.h"
#include "libcore/base/text.h"
#include "libcore/tensor/shape.h"

namespace voxshard {
namespace {

std::string image_text(const VideoStream& s) {
  std::string text = to_string(Dims{s.width, s.height}) + " pixels";
  if (s.orientation.is_identity()) return text;
  text += ", stored " + to_string(Dims{s.stored_width, s.stored_height});
  if (s.orientation.mirrored()) text += ", mirrored";
  return text + ", turned " + std::to_string(s.orientation.clockwise_degrees()) + " degrees clockwise";
}

std::string rate_text(const FrameRate& rate, const Rational& time_base) {
  if (rate.per_second.num == 0) return "one moment only";
  const std::string per_second = rational_text(rate.per_second) + " frames per second";
  if (rate.constant) return "constant, " + per_second;
  const auto ms = [&](std::int64_t ticks) {
    return fixed_text(1000 * static_cast<double>(ticks) * time_base.value(), 1);
  };
  return "variable, " + ms(rate.shortest_ticks) + " to " + ms(rate.longest_ticks) + " ms from frame to frame, mean " +
         fixed_text(rate.per_second.value(), 3) + " frames per second";
}

}  // namespace

namespace fs = std::filesystem;

VideoInfo read_video_info(const fs::path& path, const InfoOptions& options) {
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

std::string to_text(const VideoInfo& info) {
  const VideoStream& s = info.stream;
  const VideoIndex& index = info.index;
  std::string text = info.path.string() + "\n";
  const auto line = [&](const std::string& name, const std::string& value) {
    text += "  " + name + std::string(13 - name.size(), ' ') + value + "\n";
  };
  line("video", s.codec + " in " + s.container);
  line("size", image_text(s));
  if (s.sample_aspect != Rational{1, 1}) line("pixel aspect", rational_text(s.sample_aspect) + " (width over height)");
  line("pixels", s.pixel_format + ", matrix " + s.colour_matrix + ", range " + s.colour_range);
  line("frames", std::to_string(index.size()) + (index.decoded ? ", counted by decoding" : ", counted by packets"));
  line("time", fixed_text(index.seconds(0), 6) + " to " + fixed_text(index.seconds(index.size() - 1), 6) + " s, " +
                   fixed_text(duration_s(index), 3) + " s long, in ticks of " + rational_text(s.time_base) + " s");
  line("rate", rate_text(frame_rate(index), s.time_base));
  for (const auto& note : info.notes) line("note", note);
  return text;
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

double encoder_bytes(std::int64_t pixels, int threads) {
  constexpr double kInFlight = 12, kFrame = 7, kTables = 2 << 20;  // bytes a pixel; bytes
  return (kInFlight * (threads + 1) + kFrame) * static_cast<double>(pixels) + kTables;
}

double drawn_copy_bytes(std::int64_t pixels, std::int64_t drawn, int threads) {
  return encoder_bytes(drawn, threads) + (drawn > pixels ? 3 * static_cast<double>(drawn) : 0);
}

}  // namespace voxshard
