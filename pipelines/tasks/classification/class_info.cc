#include "pipelines/tasks/classification/class_info.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"
#include "pipelines/tasks/classification/dataset/class_clips.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

ClassPartInfo info_of(const std::string& name, const ClassDataset& set) {
  ClassPartInfo info{.name = name,
                     .kind = set.kind,
                     .path = set.source,
                     .classes = set.classes,
                     .counts = set.counts(),
                     .items = std::ssize(set.items)};
  for (const ClipVideo& video : videos_of(set)) ++info.videos, info.seconds += video.seconds;
  info.smallest = info.largest = set.items.at(0).size;
  for (const ClassItem& item : set.items) {
    info.colour += item.colour;
    for (int a = 0; a < item.size.axes(); ++a) {
      info.smallest[a] = std::min(info.smallest[a], item.size[a]);
      info.largest[a] = std::max(info.largest[a], item.size[a]);
    }
  }
  return info;
}

}  // namespace

ClassSetInfo read_class_info(const std::filesystem::path& path, const VolumeFormats& formats, const ClassKinds& kinds) {
  const ClassParts parts = find_class_parts(path, kinds);
  ClassSetInfo info{.path = path};
  const std::pair<const char*, const std::optional<ClassPart>*> all[] = {
      {"all", &parts.whole}, {"train", &parts.train}, {"val", &parts.val}, {"test", &parts.test}};
  std::optional<Error> first;
  for (const auto& [name, part] : all) {
    if (!*part) continue;
    try {
      const ClassReading reading{.items = kind_of_part(**part, 0), .formats = formats};
      const ClassDataset set = read_class_part(**part, reading);
      info.items = reading.items;
      info.parts.push_back(info_of(name, set));
      info.failures.insert(info.failures.end(), set.failures.begin(), set.failures.end());
    } catch (const Error& e) {
      info.failures.push_back({name, e.code(), e.what()});
      if (!first) first = e;
    }
  }
  if (info.parts.empty() && first) throw *first;
  return info;
}

Json to_json(const ClassSetInfo& info) {
  Json json = {{"path", info.path.string()}, {"holds", item_kind_name(info.items)}, {"parts", Json::array()}};
  const auto list = [](const Dims& size) { return std::vector<std::int64_t>(size.begin(), size.end()); };
  for (const ClassPartInfo& part : info.parts) {
    Json classes = Json::array();
    for (std::size_t c = 0; c < part.classes.size(); ++c)
      classes.push_back({{"name", part.classes[c]}, {"items", part.counts[c]}});
    json["parts"].push_back({{"name", part.name},
                             {"kind", part.kind},
                             {"path", part.path.string()},
                             {"items", part.items},
                             {"colour", part.colour},
                             {"size", {{"min", list(part.smallest)}, {"max", list(part.largest)}}},
                             {"classes", classes}});
    if (info.items == ItemKind::kClip)
      json["parts"].back().update({{"videos", part.videos},
                                   {"seconds", part.seconds},
                                   {"clip_length", ClassReading().clip_length},
                                   {"clip_stride", ClassReading().clip_stride}});
  }
  json["left_out"] = info.failures.size();
  return json;
}

std::string to_text(const ClassSetInfo& info) {
  constexpr std::size_t kMostRows = 40;
  std::string text = plain_text(info.path.string()) + "\n";
  for (const ClassPartInfo& part : info.parts) {
    text += "  " + part.name + " (" + part.kind + "): " + std::to_string(part.items) + " " +
            item_kind_name(info.items) + " of " + counted(std::ssize(part.classes), "class", "classes") + ", " +
            to_string(part.smallest) + " to " + to_string(part.largest) +
            (info.items == ItemKind::kVolume ? " voxels" : " pixels, " + std::to_string(part.colour) + " in colour") +
            "\n";
    if (info.items == ItemKind::kClip)
      text += "    out of " + counted(part.videos, "video") + ", " + fixed_text(part.seconds, 1) +
              " s; a clip is T x H x W, its frames follow one another\n";
    std::vector<std::vector<std::string>> rows = {{"class", "items"}};
    for (std::size_t c = 0; c < std::min(kMostRows, part.classes.size()); ++c)
      rows.push_back({plain_text(part.classes[c]), std::to_string(part.counts[c])});
    text += text_table(rows);
    if (part.classes.size() > kMostRows)
      text += "... and " + std::to_string(part.classes.size() - kMostRows) + " more; all of them with {json}\n";
  }
  return text + "  " + std::to_string(info.failures.size()) + " left out\n";
}

}  // namespace voxshard
