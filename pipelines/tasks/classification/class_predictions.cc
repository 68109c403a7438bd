#include "pipelines/tasks/classification/class_predictions.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "io/files/atomic_file.h"
#include "io/files/config_file.h"
#include "io/files/csv.h"
#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "libcore/metrics/classified.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTask = "classification";
constexpr const char* kTableHead = "file,class,probability";

std::size_t best_of(const ClassPrediction& row) { return static_cast<std::size_t>(likeliest(row.probabilities)); }

/// Errors: kInput E_SYNTAX with the reason; those of JSON.
ClassPrediction row_of(const nlohmann::json& entry, std::size_t classes) {
  ClassPrediction row{.file = entry.at("file")};
  const auto refuse = [](const std::string& what) {
    throw Error(ErrorKind::kInput, "E_SYNTAX", what + "; predict again");
  };
  if (const std::string problem = text_problem(row.file); !problem.empty()) refuse("its name " + problem);
  const nlohmann::json& values = entry.at("probabilities");
  if (!values.is_array() || values.size() != classes) refuse("does not have a probability for each of the classes");
  for (const nlohmann::json& value : values) {
    const double p = value.is_number() ? value.get<double>() : -1;
    if (!(p >= 0 && p <= 1)) refuse("has a probability that is no number from 0 to 1");
    row.probabilities.push_back(p);
  }
  return row;
}

}  // namespace

void write_class_predictions(const std::filesystem::path& json, const ClassPredictions& predictions) {
  Json rows = Json::array();
  for (const ClassPrediction& row : predictions.rows)
    rows.push_back(
        {{"file", row.file}, {"class", predictions.classes[best_of(row)]}, {"probabilities", row.probabilities}});
  write_json(json, {{"task", kTask},
                    {"classes", predictions.classes},
                    {"items", item_kind_name(predictions.items)},
                    {"predictions", rows}});
}

void write_class_table(const std::filesystem::path& csv, const ClassPredictions& predictions) {
  write_file_atomically(csv, [&](std::ostream& out) {
    out << kTableHead;
    for (const std::string& name : predictions.classes) out << "," << csv_text("p(" + name + ")");
    out << "\n";
    for (const ClassPrediction& row : predictions.rows) {
      const std::size_t best = best_of(row);
      out << csv_text(row.file) << "," << csv_text(predictions.classes[best]) << ","
          << csv_text(row.probabilities[best]);
      for (const double p : row.probabilities) out << "," << csv_text(p);
      out << "\n";
    }
  });
}

std::filesystem::path class_table_of(const std::filesystem::path& json) {
  return std::filesystem::path(json).replace_extension(".csv");
}

ClassPredictions read_class_predictions(const std::filesystem::path& path) {
  const nlohmann::json json = read_json(path);
  const auto refuse = [&](const std::string& what) {
    throw input_error(path, what, "give what voxshard predict wrote for a classifier");
  };
  ClassPredictions read;
  try {
    if (json.at("task") != kTask) refuse("holds no predictions of classes");
    read.classes = json.at("classes").get<std::vector<std::string>>();
    const auto items = item_kind_from_name(json.at("items").get<std::string>());
    if (!items) refuse("is neither of pictures nor of volumes nor of clips");
    read.items = *items;
    const std::set<std::string> distinct(read.classes.begin(), read.classes.end());
    if (read.classes.size() < 2 || distinct.size() != read.classes.size())
      refuse("names fewer than two classes, or one of them twice");
    for (const std::string& name : read.classes)
      if (const std::string problem = text_problem(name); !problem.empty()) refuse("names a class that " + problem);
    const nlohmann::json& entries = json.at("predictions");
    if (!entries.is_array()) refuse("has no list of predictions");
    std::set<std::string> seen;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::string id = "prediction " + std::to_string(i);
      try {
        ClassPrediction row = row_of(entries[i], read.classes.size());
        if (seen.insert(row.file).second)
          read.rows.push_back(std::move(row));
        else
          read.failures.push_back({id, "E_DUPLICATE", "is a second one of " + shown_name(row.file)});
      } catch (const Error& e) {
        read.failures.push_back({id, e.code(), e.what()});
      } catch (const nlohmann::json::exception&) {
        read.failures.push_back({id, "E_SYNTAX", "has no file or no probabilities; predict again"});
      }
    }
  } catch (const nlohmann::json::exception&) {
    refuse("holds no predictions of classes");
  }
  return read;
}

OutputKind class_predictions_file() {
  return {"predictions of classes", {".json"}, begins_with({R"({"task":"classification")"})};
}

OutputKind class_table_file() { return {"a table of predicted classes", {".csv"}, begins_with({kTableHead})}; }

}  // namespace voxshard
