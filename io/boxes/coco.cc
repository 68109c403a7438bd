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

/// True where one path ends with the other, folder by folder: "a/cam0/1.png" and "cam0/1.png".
bool ends_alike(const std::string& a, const std::string& b) {
  const auto ends = [](const std::string& whole, const std::string& end) {
    return whole.ends_with(end) && (whole.size() == end.size() || whole[whole.size() - end.size() - 1] == '/');
  };
  return ends(a, b) || ends(b, a);
}

/// The items that results name by an id and, where they say so, by a name too. The name counts: numbers are those of
/// the data set that a run was trained on, or of a folder of images, and another data set may count otherwise. Where
/// not one name of a file is listed, they are of another kind, and the ids count.
class NamedItems {
 public:
  template <class Item, class NameOf>
  NamedItems(const char* what, const char* code, const char* id_field, const char* name_field,
             const std::vector<Item>& items, NameOf name_of)
      : what_(what), code_(code), id_field_(id_field), name_field_(name_field), by_id_(indices_by_id(items)) {
    for (std::size_t i = 0; i < items.size(); ++i)
      names_.push_back(name_of(items[i])), by_name_[last(names_[i])].push_back(i);
  }

  /// Looks whether the names in a list are those of the items.
  void look_at(const json& list) {
    std::vector<EntryNote> passed_over;
    for (const json& entry : list)
      in_entry("results", passed_over, [&] {
        by_names_ = by_names_ || (has(entry, name_field_) && !indices_of(text_field(entry, name_field_)).empty());
      });
  }

  /// Returns the index of the item that an entry is of. Errors: EntryProblem.
  std::size_t index_in(const json& entry) const {
    const std::int64_t id = whole_number(entry, id_field_);
    if (!by_names_ || !has(entry, name_field_)) return index_of(by_id_, id, what_, code_);
    const std::string name = text_field(entry, name_field_);
    const std::vector<std::size_t> all = indices_of(name);
    if (all.empty()) refuse(name, "which is not listed");
    const auto numbered = by_id_.find(id);
    if (numbered != by_id_.end() && std::ranges::count(all, numbered->second) > 0) return numbered->second;
    if (all.size() > 1) refuse(name, "of which there are several, none of them with the id " + std::to_string(id));
    return all.front();
  }

 private:
  static std::string last(const std::string& name) { return name.substr(name.rfind('/') + 1); }
  std::vector<std::size_t> indices_of(const std::string& name) const {
    std::vector<std::size_t> alike;
    if (const auto named = by_name_.find(last(name)); named != by_name_.end())
      std::ranges::copy_if(named->second, std::back_inserter(alike),
                           [&](std::size_t i) { return ends_alike(names_[i], name); });
    return alike;
  }
  [[noreturn]] void refuse(const std::string& name, const std::string& why) const {
    throw EntryProblem(std::string("names the ") + what_ + " \"" + shown_name(name) + "\", " + why, code_);
  }

  const char *what_, *code_, *id_field_, *name_field_;
  Indices by_id_;
  std::vector<std::string> names_;                           // by index
  std::map<std::string, std::vector<std::size_t>> by_name_;  // without folders
  bool by_names_ = false;
};

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
  NamedItems classes("category", "E_CLASS", "category_id", "category_name", truth.classes,
                     [](const DetectionClass& c) { return c.name; });
  NamedItems images("image", "E_IMAGE", "image_id", "file_name", truth.images,
                    [](const DetectionImage& image) { return image.file.generic_string(); });
  classes.look_at(file), images.look_at(file);
  CocoResults results;
  each_entry(file, "results", results.notes, [&](const json& entry) {
    ScoredBox b{.box = box_of(entry), .score = real_number(entry, "score")};
    b.image = static_cast<std::int64_t>(images.index_in(entry));
    b.category = static_cast<std::int64_t>(classes.index_in(entry));
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
