#include "pipelines/tasks/classification/dataset/class_clips.h"

#include <algorithm>
#include <set>

#include "io/files/now_reading.h"
#include "io/video/scan.h"
#include "io/video/stream.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFrames = "#frames=";
constexpr double kTick = 1e-6;  // s: rounding of frame times

bool is_grey(const VideoStream& stream) {
  return stream.pixel_format.starts_with("gray") || stream.pixel_format.starts_with("mono");
}

/// Returns the frames [begin, end) of an interval; without one, all frames.
std::pair<std::int64_t, std::int64_t> frames_in(const VideoIndex& index, const std::optional<ClassInterval>& interval) {
  if (!interval) return {0, index.size()};
  const auto at = [&](double seconds) {
    const auto before = [&](const IndexedFrame& frame, double s) {
      return static_cast<double>(frame.pts_ticks - index[0].pts_ticks) * index.time_base.value() < s - kTick;
    };
    return std::lower_bound(index.frames.begin(), index.frames.end(), seconds, before) - index.frames.begin();
  };
  return {at(interval->start_s), at(interval->end_s)};
}

}  // namespace

const ClassItem& ClipFinder::video(const fs::path& file) {
  if (const auto known = videos_.find(file); known != videos_.end()) return known->second;
  if (const auto known = failed_.find(file); known != failed_.end()) throw known->second;
  try {
    return videos_.emplace(file, opened(file)).first->second;
  } catch (const Error& e) {
    failed_.emplace(file, e);
    throw;
  }
}

ClassItem ClipFinder::opened(const fs::path& file) const {
  const NowReading reading(file);
  VideoInput input(file);
  const VideoStream stream = describe_stream(input);
  require_pixels_within(reading_.most_pixels, stream.width, stream.height, file);
  auto scan = std::make_shared<const VideoScan>(scan_packets(input));
  if (!scan->index.by_timestamp || scan->index.size() == 0)
    throw Error(ErrorKind::kInput, "E_TIME",
                "[input] " + file.string() +
                    ": its packets carry no timestamps to find frames by; repack it, for example with ffmpeg -fflags "
                    "+genpts -i IN -c copy OUT.mkv");
  return {.file = file,
          .size = {reading_.clip_length, stream.height, stream.width},
          .colour = !is_grey(stream),
          .scan = std::move(scan)};
}

std::vector<ClassItem> ClipFinder::clips(const fs::path& file, const std::string& name,
                                         const std::optional<ClassInterval>& interval) {
  const ClassItem& of_video = video(file);
  const auto [begin, end] = frames_in(of_video.scan->index, interval);
  const std::int64_t span = reading_.clip_length * reading_.clip_stride;
  if (end - begin < span)
    throw Error(
        ErrorKind::kInput, "E_CLIP",
        "[input] " + file.string() + ": has " + std::to_string(std::max<std::int64_t>(0, end - begin)) + " frames" +
            (interval ? " from " + number_text(interval->start_s) + " to " + number_text(interval->end_s) + " s" : "") +
            ", a clip of " + std::to_string(reading_.clip_length) + " at a stride of " +
            std::to_string(reading_.clip_stride) + " wants " + std::to_string(span) +
            "; give a longer one, or a smaller {clip-length} or {stride}");
  std::vector<ClassItem> clips;
  for (std::int64_t first = begin; first + span <= end; first += span) {
    clips.push_back(of_video);
    clips.back().name = name + kFrames + std::to_string(first) + ":" + std::to_string(first + span);
    clips.back().index = first;
    clips.back().least_first = begin;
    clips.back().most_first = end - ((reading_.clip_length - 1) * reading_.clip_stride + 1);
  }
  return clips;
}

std::string video_of(const ClassItem& item) {
  return item.scan == nullptr ? item.name : item.name.substr(0, item.name.rfind(kFrames));
}

std::vector<ClipVideo> videos_of(const ClassDataset& set) {
  std::map<std::string, ClipVideo> videos;
  for (const ClassItem& item : set.items) {
    if (item.scan == nullptr) continue;
    ClipVideo& video = videos.try_emplace(video_of(item)).first->second;
    video.seconds = duration_s(item.scan->index);
    video.labels.push_back(item.label);
  }
  std::vector<ClipVideo> list;
  for (auto& [name, video] : videos) {
    video.name = name;
    list.push_back(std::move(video));
  }
  return list;
}

}  // namespace voxshard
