#include "pipelines/tasks/detection/dataset/detection_info.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"
#include "libcore/tensor/shape.h"
#include "pipelines/tasks/detection/dataset/detection_dataset.h"

namespace voxshard {

using Json = nlohmann::ordered_json;

DetectionSetInfo read_detection_info(const std::filesystem::path& annotations, const BoxFormats& formats) {
  const DetectionDataset set = read_detection_dataset(annotations, DetectionUse::kTraining, kMostPixels, formats);
  DetectionSetInfo info{.path = annotations, .images = static_cast<std::int64_t>(set.images.size())};
  for (const auto& c : set.classes) info.classes.push_back({.name = c.name, .id = c.id});
  info.smallest = {set.images[0].width, set.images[0].height};
  for (const auto& image : set.images) {
    info.smallest = {std::min(info.smallest[0], image.width), std::min(info.smallest[1], image.height)};
    info.largest = {std::max(info.largest[0], image.width), std::max(info.largest[1], image.height)};
    for (const auto& b : image.boxes) {
      ++info.boxes;
      ++info.classes[b.category].boxes;
      info.crowds += b.crowd;
      info.ignored += b.ignore;
    }
  }
  info.failures = note_failures(set.notes);
  info.mended = static_cast<std::int64_t>(set.notes.size() - info.failures.size());
  info.mendings = mended_texts(set.notes);
  return info;
}

Json to_json(const DetectionSetInfo& info) {
  Json json = {{"path", info.path.string()},
               {"images", info.images},
               {"boxes", info.boxes},
               {"crowds", info.crowds},
               {"ignored", info.ignored}};
  json["classes"] = Json::array();
  for (const auto& c : info.classes) json["classes"].push_back({{"id", c.id}, {"name", c.name}, {"boxes", c.boxes}});
  json["width"] = {{"min", info.smallest[0]}, {"max", info.largest[0]}};
  json["height"] = {{"min", info.smallest[1]}, {"max", info.largest[1]}};
  json["mended"] = info.mended;
  json["left_out"] = info.failures.size();
  return json;
}

std::string to_text(const DetectionSetInfo& info) {
  std::string text = plain_text(info.path.string()) + "\n  " + counted(info.images, "image") + ", " +
                     to_string(Dims{info.smallest[0], info.smallest[1]}) + " to " +
                     to_string(Dims{info.largest[0], info.largest[1]}) + " pixels; " +
                     counted(info.boxes, "box", "boxes") + ", of them " + std::to_string(info.crowds) + " crowds and " +
                     std::to_string(info.ignored) + " to be ignored; " + counted(info.mended, "entry", "entries") +
                     " mended, " + std::to_string(info.failures.size()) + " left out\n";
  for (const std::string& mending : info.mendings) text += "  " + plain_text(mending) + "\n";
  std::vector<std::vector<std::string>> rows = {{"class", "id", "boxes"}};
  for (const auto& c : info.classes) rows.push_back({c.name, std::to_string(c.id), std::to_string(c.boxes)});
  return text + text_table(rows);
}

}  // namespace voxshard
