#include "io/boxes/coco_frames.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "io/boxes/coco_json.h"
#include "io/image/image_header.h"
#include "io/image/image_reader.h"
#include "io/video/stream.h"

namespace voxshard {
namespace {

using nlohmann::json;

std::optional<std::int64_t> frame_of(const json& image) {
  for (const char* field : {"frame_index", "frame_id", "frame"}) {
    if (!has(image, field)) continue;
    const std::int64_t frame = whole_number(image, field);
    if (frame < 0)
      throw EntryProblem(std::string("has \"") + field + "\": " + std::to_string(frame) +
                         "; frames are counted from 0");
    return frame;
  }
  return std::nullopt;
}

std::string video_of(const json& image, const std::map<std::int64_t, std::string>& videos) {
  if (!has(image, "video_id")) return "";
  const auto video = videos.find(whole_number(image, "video_id"));
  return video == videos.end() ? "" : video->second;
}

}  // namespace

std::map<std::int64_t, std::string> coco_video_names(const json& file) {
  std::map<std::int64_t, std::string> names;
  if (!file.is_object() || !file.contains("videos") || !file["videos"].is_array()) return names;
  std::vector<EntryNote> passed_over;
  for (const json& video : file["videos"])
    in_entry("videos", passed_over, [&] {
      names[whole_number(video, "id")] = text_field(video, has(video, "file_name") ? "file_name" : "name");
    });
  return names;
}

std::string coco_image_name(const json& image, const std::map<std::int64_t, std::string>& videos) {
  std::string name = has(image, "file_name") ? text_field(image, "file_name") : "";
  if (is_image_name(name) || image_address(name).frame) return name;
  if (!is_video_name(name)) {
    const std::string video = video_of(image, videos);
    if (!is_video_name(video)) return name;
    name = video;
  }
  const auto frame = frame_of(image);
  if (!frame) throw EntryProblem("names the video \"" + name + "\" but no frame; expected \"frame_index\", from 0");
  return frame_path(name, *frame).string();
}

std::optional<SequencePlace> coco_sequence_place(const json& image) {
  std::optional<SequencePlace> place;
  std::vector<EntryNote> passed_over;  // a video of another form says nothing of the image
  in_entry("images", passed_over, [&] {
    if (!has(image, "video_id")) return;
    const std::string video = std::to_string(whole_number(image, "video_id"));
    place = {.sequence = "video " + video, .frame = frame_of(image).value_or(whole_number(image, "id"))};
  });
  return place;
}

}  // namespace voxshard
