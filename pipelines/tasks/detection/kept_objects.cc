#include "pipelines/tasks/detection/kept_objects.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace voxshard {

nlohmann::json object_rows(const std::vector<Detection>& found) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Detection& d : found)
    rows.push_back(nlohmann::json::array({d.class_id, d.score, d.box.y0, d.box.x0, d.box.y1, d.box.x1}));
  return rows;
}

std::optional<std::vector<Detection>> objects_from_rows(const nlohmann::json& rows, const ClassIds& ids) {
  if (!rows.is_array()) return std::nullopt;
  std::vector<Detection> found;
  for (const nlohmann::json& row : rows) {
    if (!row.is_array() || row.size() != 6 || !row[0].is_number_integer()) return std::nullopt;
    std::array<double, 6> values{};
    for (std::size_t k = 0; k < 6; ++k) {
      if (row[k].is_number()) values[k] = row[k].get<double>();
      if (!row[k].is_number() || !std::isfinite(values[k])) return std::nullopt;
    }
    const std::int64_t last = ids.first + ids.count - 1;
    if (values[0] < static_cast<double>(ids.first) || values[0] > static_cast<double>(last)) return std::nullopt;
    found.push_back({.class_id = row[0].get<std::int64_t>(),
                     .score = values[1],
                     .box = {.y0 = values[2], .x0 = values[3], .y1 = values[4], .x1 = values[5]}});
  }
  return found;
}

}  // namespace voxshard
