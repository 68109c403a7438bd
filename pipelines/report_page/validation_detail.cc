#include "pipelines/report_page/validation_detail.h"

#include <algorithm>
#include <cmath>

#include "io/files/config_file.h"
#include "pipelines/report_page/page_facts.h"
#include "pipelines/report_page/run_data.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRows = 1000, kMostCurvePoints = 1001, kMostImages = 8;
constexpr std::int64_t kMostSide = 1 << 20;

bool is_count(const Json& value) { return value.is_number_integer() && value >= 0; }

/// Returns the number at a pointer; null for anything else.
Json number_at(const Json& from, const std::string& pointer) {
  const Json& value = part_of(from, pointer);
  return value.is_number() && std::isfinite(value.get<double>()) ? value : Json();
}

/// Returns the list of numbers, which may be null each, of so many values; null for anything else.
Json numbers_at(const Json& list, std::size_t count) {
  if (!list.is_array() || list.size() != count) return nullptr;
  for (const Json& value : list)
    if (!value.is_null() && !value.is_number()) return nullptr;
  return list;
}

/// Returns rows with these texts and numbers each; what is missing is null.
Json read_rows(const Json& from, const std::string& pointer, std::initializer_list<const char*> texts,
               std::initializer_list<const char*> numbers) {
  Json rows = Json::array();
  const Json& list = part_of(from, pointer);
  if (!list.is_array()) return rows;
  for (const Json& one : list) {
    if (!one.is_object() || rows.size() >= kMostRows) continue;
    Json row = Json::object();
    for (const char* key : texts) row[key] = fact(one, std::string("/") + key);
    for (const char* key : numbers) row[key] = number_at(one, std::string("/") + key);
    rows.push_back(std::move(row));
  }
  return rows;
}

Json read_curves(const Json& from) {
  const Json& recall = part_of(from, "/curves/recall");
  if (!recall.is_array() || recall.empty() || recall.size() > kMostCurvePoints) return nullptr;
  Json curves = {{"recall", numbers_at(recall, recall.size())},
                 {"all", numbers_at(part_of(from, "/curves/all"), recall.size())},
                 {"by_class", Json::array()}};
  if (curves["recall"].is_null()) return nullptr;
  const Json& by_class = part_of(from, "/curves/by_class");
  for (std::size_t c = 0; by_class.is_array() && c < std::min(by_class.size(), kMostShownClasses); ++c)
    curves["by_class"].push_back(numbers_at(by_class[c], recall.size()));
  return curves;
}

/// Returns a square matrix of counts with a row for each class, and perhaps one more; null for anything else.
Json read_confusion(const Json& from, std::size_t classes) {
  const Json& matrix = part_of(from, "/confusion");
  if (!matrix.is_array() || classes > kMostShownClasses || (matrix.size() != classes && matrix.size() != classes + 1))
    return nullptr;
  for (const Json& row : matrix)
    if (!row.is_array() || row.size() != matrix.size() || !std::ranges::all_of(row, is_count)) return nullptr;
  return matrix;
}

/// Returns boxes of four numbers, with their class and perhaps a score.
Json read_boxes(const Json& from, const std::string& pointer) {
  Json boxes = Json::array();
  const Json& list = part_of(from, pointer);
  for (std::size_t i = 0; list.is_array() && i < std::min(list.size(), kMostShownBoxes); ++i) {
    const Json box = numbers_at(part_of(list[i], "/box"), 4), number = number_at(list[i], "/class");
    if (box.is_null() || std::ranges::any_of(box, [](const Json& edge) { return edge.is_null(); }) || !is_count(number))
      continue;
    boxes.push_back({{"class", number}, {"box", box}, {"score", number_at(list[i], "/score")}});
  }
  return boxes;
}

Json read_images(const Json& from) {
  Json images = Json::array();
  const Json& list = part_of(from, "/images");
  for (std::size_t i = 0; list.is_array() && i < std::min(list.size(), kMostImages); ++i) {
    const Json &one = list[i], &width = part_of(one, "/width"), &height = part_of(one, "/height"),
               &jpeg = part_of(one, "/jpeg");
    if (!is_count(width) || !is_count(height) || width == 0 || height == 0 || width > kMostSide || height > kMostSide ||
        !is_base64(jpeg))
      continue;
    images.push_back({{"item", fact(one, "/item")},
                      {"width", width},
                      {"height", height},
                      {"ap50", number_at(one, "/ap50")},
                      {"reference", read_boxes(one, "/reference")},
                      {"prediction", read_boxes(one, "/prediction")},
                      {"jpeg", jpeg}});
  }
  return images;
}

}  // namespace

bool is_base64(const Json& text) {
  return text.is_string() &&
         text.get_ref<const std::string&>().find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") == std::string::npos;
}

Json read_detail(const std::filesystem::path& file, const ValidationData* of) {
  if (std::error_code unseen; of == nullptr || !std::filesystem::exists(file, unseen)) return nullptr;
  const Json from = read_json(file);
  if (part_of(from, "/step") != Json(of->step) || fact(from, "/weights") != of->weights) return nullptr;
  const std::string kind = fact(from, "/kind");
  if (kind != "detection" && kind != "classification") return nullptr;
  Json detail = {{"step", of->step},
                 {"weights", of->weights},
                 {"kind", kind},
                 {"items", number_at(from, "/items")},
                 {"classes", read_rows(from, "/classes", {"class"}, {"items", "found", "recall", "precision", "f1"})}};
  detail["confusion"] = read_confusion(from, detail["classes"].size());
  detail["mistakes"] = read_rows(from, "/mistakes", {}, {"true", "found", "items"});
  for (const char* list : {"worst", "best"})
    detail[list] = kind == "detection"
                       ? read_rows(from, std::string("/") + list, {"item"}, {"ap50", "objects", "found", "wrong"})
                       : read_rows(from, std::string("/") + list, {"item"}, {"true", "found", "probability"});
  if (kind == "classification") {
    detail["accuracy"] = number_at(from, "/accuracy");
    return detail;
  }
  detail["curves"] = read_curves(from);
  Json point = Json::object();
  for (const char* key : {"score", "recall", "precision", "f1", "found", "wrong", "missed"})
    point[key] = number_at(from, std::string("/operating_point/") + key);
  detail["operating_point"] = point["score"].is_null() ? Json() : point;
  detail["images"] = read_images(from);
  return detail;
}

std::vector<std::string> classes_of_detail(const Json& detail) {
  std::vector<std::string> names;
  for (const Json& row : part_of(detail, "/classes")) names.push_back(fact(row, "/class"));
  if (part_of(detail, "/confusion").size() > names.size()) names.emplace_back("(nothing)");
  return names;
}

}  // namespace voxshard
