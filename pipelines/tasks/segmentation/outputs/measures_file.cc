#include "pipelines/tasks/segmentation/outputs/measures_file.h"

#include "io/files/atomic_file.h"
#include "io/files/config_file.h"
#include "io/files/csv.h"
#include "io/files/file_name.h"
#include "libcore/base/plain_text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kDiameter =
    "the largest distance between two points of the class's outline within one slice, along the edges of pixels";

/// Names of files, and so ids of cases, may hold any bytes.
std::string text_of(const Json& all) { return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

/// Returns a field of a table; an empty one for null.
std::string field_of(const nlohmann::json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return csv_text(value.get<std::string>());
  return value.is_number_integer() ? csv_text(value.get<std::int64_t>()) : csv_text(value.get<double>());
}

constexpr const char* kColumns[] = {"class", "label", "voxels", "ml", "mean", "deviation", "diameter_mm"};

/// Returns the rows of one case: its id, the fields of a class, and the unit.
std::string rows_of(const nlohmann::json& one) {
  std::string text;
  for (const nlohmann::json& row : one.at("classes")) {
    text += field_of(one.at("case"));
    for (const char* column : kColumns) text += "," + field_of(row.at(column));
    text += "," + field_of(one.at("unit")) + "\n";
  }
  return text;
}

}  // namespace

void write_case_measures(const fs::path& file, const CaseMeasures& one) {
  Json rows = Json::array(), flags = Json::array();
  for (std::size_t c = 1; c < one.classes.size(); ++c) {
    const ClassMeasures& m = one.measures.at(c);
    rows.push_back({{"class", one.classes[c]},
                    {"label", c},
                    {"voxels", m.voxels},
                    {"ml", m.volume_ml},
                    {"mean", number_or_null(m.mean)},
                    {"deviation", number_or_null(m.deviation)},
                    {"diameter_mm", number_or_null(m.diameter_mm)}});
  }
  for (const QualityFlag& flag : one.flags)
    flags.push_back({{"code", flag.code},
                     {"class", flag.label_class > 0 ? Json(one.classes.at(flag.label_class)) : Json(nullptr)},
                     {"what", plain_text(flag.what)}});
  const Json all = {{"case", one.id}, {"unit", one.unit}, {"classes", std::move(rows)}, {"flags", std::move(flags)}};
  write_text_atomically(file, text_of(all));
}

void join_measures(const fs::path& folder, const std::vector<std::string>& ids) {
  Json cases = Json::array();
  std::string table = "case";
  for (const char* column : kColumns) table += std::string(",") + column;
  table += ",unit\n";
  for (const std::string& id : ids) {
    const fs::path file = named_file(folder, id, kMeasuresEnding);
    if (std::error_code unseen; !fs::exists(file, unseen)) continue;
    const nlohmann::json one = read_json(file);
    try {
      table += rows_of(one);
      Json copy = {{"case", one.at("case")}, {"unit", one.at("unit")}, {"classes", Json::array()}};
      if (one.contains("flags")) copy["flags"] = Json::array();
      for (const nlohmann::json& row : one.at("classes")) {
        Json& fields = copy["classes"].emplace_back(Json::object());
        for (const char* column : kColumns) fields[column] = row.at(column);
      }
      for (const nlohmann::json& flag : one.value("flags", nlohmann::json::array()))
        copy["flags"].push_back({{"code", flag.at("code")}, {"class", flag.at("class")}, {"what", flag.at("what")}});
      cases.push_back(std::move(copy));
    } catch (const nlohmann::json::exception&) {
      throw input_error(file, "holds no measures of a case", "remove it, and predict the case again");
    }
  }
  const Json all = {{"note", "not for diagnostic use"}, {"diameter", kDiameter}, {"cases", std::move(cases)}};
  write_text_atomically(folder / kMeasuresJson, text_of(all));
  write_text_atomically(folder / kMeasuresCsv, table);
}

void remove_measures(const fs::path& folder) {
  std::error_code none;
  for (const char* name : {kMeasuresJson, kMeasuresCsv}) fs::remove(folder / name, none);
}

}  // namespace voxshard
