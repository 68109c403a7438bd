#include "io/boxes/coco.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "io/boxes/coco_frames.h"
#include "io/boxes/coco_json.h"
#include "io/files/atomic_file.h"
#include "io/files/file_name.h"
#include "libcore/base/error.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Json = nlohmann::ordered_json;

/// Position of an image or category in its list, by id.
using Indices = std::map<std::int64_t, std::size_t>;

template <class Item>
Indices indices_by_id(const std::vector<Item>& items) {
  Indices indices;
  for (std::size_t i = 0; i < items.size(); ++i) indices[items[i].id] = i;
  return indices;
}

/// The COCO files of a folder, by name.
std::vector<fs::path> coco_files(const fs::path& folder) {
  std::set<fs::path> files;
  for (const fs::path& place : {folder, folder / "annotations"}) {
    std::error_code error;
    for (auto it = fs::directory_iterator(place, error); !error && it != fs::directory_iterator();
         it.increment(error)) {
      const std::string name = it->path().filename().string();
      const bool known = name == "annotations.json" || name == "_annotations.coco.json" ||
                         name.starts_with("instances") || name.starts_with("coco");
      if (known && name.ends_with(".json")) files.insert(it->path());
    }
  }
  return {files.begin(), files.end()};
}

bool is_like_coco(const fs::path& folder) {
  if (exists_in(folder, "annotations")) return true;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.ends_with(".json")) continue;
    for (const char* begin : {"instances", "coco", "annotations", "_annotations"})
      if (name.starts_with(begin)) return true;
  }
  return false;
}

const json& list_of(const json& file, const char* name, const fs::path& path) {
  static const json kEmpty = json::array();
  const bool there = file.is_object() && file.contains(name);
  if (there ? file[name].is_array() : file.is_object() && name == std::string("annotations"))
    return there ? file[name] : kEmpty;
  throw Error(ErrorKind::kInput, "[input] " + path.string() + ": has no list \"" + name +
                                     "\"; expected COCO annotations of instances: an object with \"images\", "
                                     "\"annotations\" and \"categories\"");
}

template <class Body>
void each_entry(const json& list, const std::string& name, std::vector<EntryNote>& notes, Body body) {
  for (std::size_t i = 0; i < list.size(); ++i)
    in_entry(name + "[" + std::to_string(i) + "]", notes, [&] { body(list[i]); });
}

void require_new(std::set<std::int64_t>& ids, std::int64_t id) {
  if (!ids.insert(id).second)
    throw EntryProblem("has the id " + std::to_string(id) + " of an earlier entry", "E_DUPLICATE");
}

std::size_t index_of(const Indices& indices, std::int64_t id, const char* what, const char* code) {
  const auto found = indices.find(id);
  if (found == indices.end())
    throw EntryProblem(std::string("names the ") + what + " " + std::to_string(id) + ", which is not listed", code);
  return found->second;
}

/// Returns the positions of items by what `name_of` says of each.
template <class Item, class NameOf>
std::map<std::string, std::vector<std::size_t>> indices_by_name(const std::vector<Item>& items, NameOf name_of) {
  std::map<std::string, std::vector<std::size_t>> indices;
  for (std::size_t i = 0; i < items.size(); ++i) indices[name_of(items[i])].push_back(i);
  return indices;
}

/// The items that results name by an id and, where they say so, by a name too. The name counts: numbers are those of
/// the data set that a run was trained on, or of a folder of images, and another data set may count otherwise.
struct NamedItems {
  const char *what, *code, *name_field;
  Indices by_id;
  std::map<std::string, std::vector<std::size_t>> by_name;

  /// Errors: EntryProblem.
  std::size_t index_of_entry(const json& entry, const char* id_field, std::string (*spelt)(const std::string&)) const {
    const std::int64_t id = whole_number(entry, id_field);
    if (!has(entry, name_field)) return index_of(by_id, id, what, code);
    const std::string name = text_field(entry, name_field);
    const auto named = by_name.find(spelt(name));
    if (named == by_name.end())
      throw EntryProblem(std::string("names the ") + what + " \"" + shown_name(name) + "\", which is not listed", code);
    const auto numbered = by_id.find(id);
    if (numbered != by_id.end() && std::ranges::count(named->second, numbered->second) > 0) return numbered->second;
    if (named->second.size() > 1)
      throw EntryProblem(std::string("names the ") + what + " \"" + shown_name(name) +
                             "\", of which there are several, " + "none of them with the id " + std::to_string(id),
                         code);
    return named->second.front();
  }
};

std::string as_it_is(const std::string& name) { return name; }
std::string without_folders(const std::string& name) { return fs::path(name).filename().string(); }

/// Returns the pixels of a side; 0 where they are not known.
std::int64_t side(const json& entry, const char* field) {
  if (!has(entry, field)) return 0;
  const std::int64_t pixels = whole_number(entry, field);
  if (pixels < 0 || pixels > (std::int64_t{1} << 31))
    throw EntryProblem(std::string("has \"") + field + "\": " + std::to_string(pixels) + "; expected pixels");
  return pixels;
}

CocoBox box_of(const json& entry) {
  const auto [x, y, width, height] = four_numbers(entry, "bbox");
  if (width < 0 || height < 0)
    throw EntryProblem("has a \"bbox\" of negative size; expected x, y, width, height", "E_BOX");
  return {.x = x, .y = y, .width = width, .height = height};
}

template <class Item>
void sort_by_id(std::vector<Item>& items) {
  std::stable_sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
}

double rounded(double value, double per_unit) { return std::round(value * per_unit) / per_unit; }

Json box_json(const CocoBox& box) {
  Json numbers = Json::array();
  for (const double v : {box.x, box.y, box.width, box.height}) numbers.push_back(rounded(v, 100));
  return numbers;
}

}  // namespace

DetectionDataset read_coco(const fs::path& path) {
  const json file = read_coco_json(path);
  const json &images = list_of(file, "images", path), &categories = list_of(file, "categories", path);
  const json& annotations = list_of(file, "annotations", path);
  DetectionDataset set{.source = path, .classes = {}, .images = {}, .notes = {}};
  std::set<std::int64_t> ids;
  each_entry(categories, "categories", set.notes, [&](const json& entry) {
    DetectionClass c{.name = text_field(entry, "name"), .id = whole_number(entry, "id")};
    if (const std::string problem = text_problem(c.name); !problem.empty())
      throw EntryProblem("has the name \"" + shown_name(c.name) + "\", which " + problem, "E_NAME");
    require_new(ids, c.id);
    set.classes.push_back(std::move(c));
  });
  ids.clear();
  const auto videos = coco_video_names(file);
  each_entry(images, "images", set.notes, [&](const json& entry) {
    DetectionImage image{.file = coco_image_name(entry, videos),
                         .id = whole_number(entry, "id"),
                         .width = side(entry, "width"),
                         .height = side(entry, "height"),
                         .boxes = {},
                         .place = coco_sequence_place(entry)};
    require_new(ids, image.id);
    set.images.push_back(std::move(image));
  });
  sort_by_id(set.classes);
  sort_by_id(set.images);
  const Indices class_of = indices_by_id(set.classes), image_of = indices_by_id(set.images);
  ids.clear();
  each_entry(annotations, "annotations", set.notes, [&](const json& entry) {
    TrueBox b{.box = box_of(entry)};
    b.crowd = flag(entry, "iscrowd");
    b.area = has(entry, "area") ? real_number(entry, "area") : b.box.area();
    b.category = index_of(class_of, whole_number(entry, "category_id"), "category", "E_CLASS");
    const std::size_t image = index_of(image_of, whole_number(entry, "image_id"), "image", "E_IMAGE");
    if (has(entry, "id")) require_new(ids, whole_number(entry, "id"));
    set.images[image].boxes.push_back(b);
  });
  return set;
}

CocoResults read_coco_results(const fs::path& path, const DetectionDataset& truth) {
  const json file = read_coco_json(path);
  if (!file.is_array())
    throw Error(ErrorKind::kInput, "[input] " + path.string() +
                                       ": is no list; expected COCO results: [{\"image_id\", \"category_id\", "
                                       "\"bbox\": [x, y, width, height], \"score\"}, ...]");
  const NamedItems classes = {"category", "E_CLASS", "category_name", indices_by_id(truth.classes),
                              indices_by_name(truth.classes, [](const DetectionClass& c) { return c.name; })};
  const NamedItems images = {
      "image", "E_IMAGE", "file_name", indices_by_id(truth.images),
      indices_by_name(truth.images, [](const DetectionImage& image) { return without_folders(image.file.string()); })};
  CocoResults results;
  each_entry(file, "results", results.notes, [&](const json& entry) {
    ScoredBox b{.box = box_of(entry), .score = real_number(entry, "score")};
    b.image = static_cast<std::int64_t>(images.index_of_entry(entry, "image_id", without_folders));
    b.category = static_cast<std::int64_t>(classes.index_of_entry(entry, "category_id", as_it_is));
    results.boxes.push_back(b);
  });
  return results;
}

Json coco_result(const ScoredBox& box, std::int64_t image_id, const DetectionClass& of) {
  return {{"image_id", image_id},
          {"category_id", of.id},
          {"category_name", of.name},
          {"bbox", box_json(box.box)},
          {"score", rounded(box.score, 1e6)}};
}

OutputKind coco_results_file() { return {"COCO results", {".json"}, begins_with({R"([{"image_id":)", "[]"})}; }

void write_coco(const fs::path& path, const DetectionDataset& dataset) {
  Json file = {{"images", Json::array()}, {"annotations", Json::array()}, {"categories", Json::array()}};
  for (const auto& c : dataset.classes) file["categories"].push_back({{"id", c.id}, {"name", c.name}});
  std::int64_t id = 0;
  for (const auto& image : dataset.images) {
    file["images"].push_back(
        {{"id", image.id}, {"file_name", image.file.string()}, {"width", image.width}, {"height", image.height}});
    for (const auto& b : image.boxes)
      file["annotations"].push_back({{"id", ++id},
                                     {"image_id", image.id},
                                     {"category_id", dataset.classes.at(b.category).id},
                                     {"bbox", box_json(b.box)},
                                     {"area", rounded(b.area, 100)},
                                     {"iscrowd", b.crowd ? 1 : 0}});
  }
  write_text_atomically(path, file.dump() + "\n");
}

BoxFormat coco_format() {
  const auto is_known = [](const fs::path& path) {
    std::error_code error;
    return path.extension() == ".json" && !fs::is_directory(path, error);
  };
  return {.name = "COCO",
          .file = "COCO JSON",
          .expected = "annotations.json, instances*.json or coco*.json",
          .is_known = is_known,
          .is_taken = [](const fs::path& path) { return path.extension() == ".json"; },
          .files = coco_files,
          .is_like = is_like_coco,
          .places_images = false,
          .read = read_coco};
}

}  // namespace voxshard
