#include "pipelines/tasks/classification/scores/class_predictions.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "io/files/atomic_file.h"
#include "io/files/config_file.h"
#include "io/files/csv.h"
#include "io/files/file_error.h"
#include "io/files/file_name.h"
#include "libcore/base/text.h"
#include "libcore/metrics/classified.h"
#include "pipelines/tasks/classification/dataset/class_dataset.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTask = "classification";
constexpr const char* kTableHead = "file,class,probability";

std::size_t best_of(const ClassPrediction& row) { return static_cast<std::size_t>(likeliest(row.probabilities)); }

/// Returns an integer entry from 1 to `most`; 0 for any other value.
std::int64_t integer_at(const nlohmann::json& json, const char* name, std::int64_t most) {
  const nlohmann::json& value = json.at(name);
  return value.is_number_integer() && value >= 1 && value <= most ? value.get<std::int64_t>() : 0;
}

/// Parses one prediction. Errors: kInput E_SYNTAX with the reason; those of the JSON library.
ClassPrediction row_of(const nlohmann::json& entry, const ClassPredictions& found) {
  ClassPrediction row{.file = entry.at("file")};
  if (const std::string problem = text_problem(row.file); !problem.empty())
    throw Error(ErrorKind::kInput, "E_SYNTAX", "its name " + problem + "; predict again");
  row.probabilities = probabilities_from_json(entry.at("probabilities"), found.classes.size());
  if (found.items == ItemKind::kClip) row.time_line = time_line_from_json(entry, found.classes);
  return row;
}

}  // namespace

Json predictions_head(const ClassPredictions& p) {
  Json head = {{"task", kTask}, {"classes", p.classes}, {"items", item_kind_name(p.items)}};
  if (p.trained_on > 0) head["trained_on"] = p.trained_on;
  for (Json run : to_json(p.averaged)) {
    run.erase("checkpoint");  // known by its hash, wherever it lies
    head["averaged"].push_back(std::move(run));
  }
  if (p.items == ItemKind::kClip) head.update({{"clip_length", p.clip_length}, {"clip_stride", p.clip_stride}});
  return head;
}

void write_class_predictions(const std::filesystem::path& json, const ClassPredictions& predictions) {
  Json rows = Json::array();
  for (const ClassPrediction& row : predictions.rows)
    rows.push_back(
        {{"file", row.file}, {"class", predictions.classes[best_of(row)]}, {"probabilities", row.probabilities}});
  Json all = predictions_head(predictions);
  all["predictions"] = std::move(rows);
  write_json(json, all);
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

std::string videos_text(const Json& videos) {
  constexpr std::size_t kMostRows = 40;
  std::vector<std::vector<std::string>> rows = {{"video", "class", "probability", "windows", "intervals"}};
  for (std::size_t i = 0; i < std::min(kMostRows, videos.size()); ++i)
    rows.push_back({shown_name(videos[i].at("file").get<std::string>()),
                    shown_name(videos[i].at("class").get<std::string>()), fixed_text(videos[i].at("probability")),
                    videos[i].at("windows").dump(), videos[i].at("intervals").dump()});
  if (rows.size() == 1) return "";
  const std::size_t more = videos.size() - std::min(kMostRows, videos.size());
  return text_table(rows) + (more > 0 ? "... and " + std::to_string(more) + " more; all of them with {json}\n" : "");
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
    if (read.items == ItemKind::kClip) {
      read.clip_length = integer_at(json, "clip_length", kMostClipLength);
      read.clip_stride = integer_at(json, "clip_stride", kMostClipStride);
      if (read.clip_length == 0 || read.clip_stride == 0)
        refuse("is of clips of a length or stride that is out of range");
    }
    if (read.classes.size() > kMostClasses)
      throw Error(ErrorKind::kInput, "E_LIMIT",
                  "[input] " + path.string() + ": names " + std::to_string(read.classes.size()) +
                      " classes, of at most " + std::to_string(kMostClasses) +
                      "; give what voxshard predict wrote for a classifier");
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
        ClassPrediction row = row_of(entries[i], read);
        const bool complete = entries[i].value("complete", true);
        if (!seen.insert(row.file).second)
          read.failures.push_back({id, "E_DUPLICATE", "is a second one of " + shown_name(row.file)});
        else if (!complete)
          read.failures.push_back({row.file, "E_STOPPED", "was predicted in part only; predict it again"});
        else
          read.rows.push_back(std::move(row));
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

OutputKind class_table_file() {
  return {"a table of predicted classes", {".csv"}, begins_with({kTableHead, kTimeLineTableHead})};
}

}  // namespace voxshard
