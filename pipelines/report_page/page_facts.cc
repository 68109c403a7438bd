#include "pipelines/report_page/page_facts.h"

#include <algorithm>
#include <map>

#include "io/files/config_file.h"
#include "io/files/content_hash.h"
#include "io/files/csv.h"
#include "io/files/file_error.h"
#include "pipelines/model_runs/run_record.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Settings whose values are places on a machine or names of files.
constexpr const char* kPlaces[] = {"", "from", "val", "trace", "device", "scratch", "output", "config"};

constexpr const char* kPath = "(a path)";

/// True for text that leads to a place on a machine.
bool is_path(const std::string& text) {
  return text.starts_with("/") || text.starts_with("~") || text.starts_with("./") || text.starts_with("../") ||
         text.find("/../") != std::string::npos || text.find(":\\") != std::string::npos;
}

/// Returns the value with each path in it replaced, and long lists by their length: a page lists no cases.
Json without_paths(const Json& value, std::size_t most) {
  if (value.is_string()) return is_path(value.get_ref<const std::string&>()) ? Json(kPath) : value;
  if (!value.is_structured()) return value;
  if (value.size() > most) return std::to_string(value.size()) + " values";
  Json clean = value.is_array() ? Json::array() : Json::object();
  for (const auto& [key, part] : value.items()) {
    if (value.is_array())
      clean.push_back(without_paths(part, most));
    else
      clean[is_path(key) ? kPath : key] = without_paths(part, most);
  }
  return clean;
}

std::string joined_words(const Json& words) {
  std::string text;
  if (!words.is_array()) return words.is_string() ? words.get<std::string>() : words.dump();
  for (const Json& word : words)
    text += (text.empty() ? "" : " ") + (word.is_string() ? word.get<std::string>() : word.dump());
  return text;
}

/// Returns the settings that were given or chosen, each with the layer that set it and, if it was chosen, the reason.
Json settings_of(const Json& record) {
  std::map<std::string, std::string> reasons;
  for (const Json& choice : part_of(record, "/recipe"))
    if (choice.is_object()) reasons[fact(choice, "/option")] = fact(choice, "/reason");
  Json settings = Json::array();
  const Json &options = part_of(record, "/options"), &layers = part_of(record, "/layers");
  if (!options.is_object()) return settings;
  for (const auto& [option, words] : options.items()) {
    const bool is_place =
        std::ranges::find(kPlaces, option, [](const char* name) { return std::string(name); }) != std::end(kPlaces);
    if (option.empty()) continue;
    const std::string value = joined_words(words);
    const auto layer = layers.is_object() ? layers.find(option) : layers.end();
    Json row = {{"option", option},
                {"value", is_place || is_path(value) ? kPath : value},
                {"layer", layer != layers.end() && layer->is_string() ? *layer : Json("command line")}};
    if (const auto reason = reasons.find(option); reason != reasons.end()) row["reason"] = reason->second;
    settings.push_back(row);
  }
  return settings;
}

/// Returns how many entries of the data were left out, by code.
Json left_out(const fs::path& file) {
  Json codes = Json::object();
  if (std::error_code unseen; !fs::exists(file, unseen)) return codes;
  read_csv(file, [&](const std::vector<std::string>& row) {
    if (row.size() < 2 || (!codes.contains(row[1]) && codes.size() >= 100)) return;
    codes[row[1]] = codes.value(row[1], 0) + 1;
  });
  return codes;
}

}  // namespace

const Json& part_of(const Json& facts, const std::string& pointer) {
  static const Json kNone;
  const Json::json_pointer at(pointer);
  return facts.contains(at) ? facts.at(at) : kNone;
}

std::string fact(const Json& facts, const std::string& pointer) {
  const Json& value = part_of(facts, pointer);
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const Json& one : value)
    text += (text.empty() ? "" : ", ") + (one.is_string() ? one.get<std::string>() : one.dump());
  return text;
}

std::optional<double> number_fact(const Json& facts, const std::string& pointer) {
  const Json& value = part_of(facts, pointer);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

Json page_facts(const fs::path& run) {
  constexpr std::size_t kMostListed = 1024;  // cores, classes
  const fs::path file = run / "run.json";
  std::error_code unseen;
  if (!fs::exists(file, unseen) || fact(Json(read_json(file)), "/command") != "train")
    throw input_error(run, "holds no run of train", "give the folder of a run, with its run.json");
  const Json record = *read_run_record(run);
  Json facts = {{"version", fact(record, "/version")}, {"settings", settings_of(record)}};
  for (const char* key : {"metric", "model", "training", "machine", "memory", "ranks", "report"}) {
    Json part = part_of(record, std::string("/") + key);
    if (part.is_null()) continue;
    if (std::string_view(key) == "training" && part.is_object() && part.contains("cases")) {
      const Json cases = part["cases"];
      part["cases"] = cases.is_array() ? Json(cases.size()) : cases;
    }
    facts[key] = without_paths(part, kMostListed);
  }
  facts["continued"] = !part_of(record, "/from").is_null();
  facts["data_changes"] = part_of(record, "/data_changes").size();
  if (const fs::path plans = run / "plans.json"; fs::exists(plans, unseen)) {
    const Json prepared = part_of(Json(read_json(plans)), "/prepare");
    facts["preparation"] = without_paths(prepared, kMostListed);
    facts["preparation_hash"] = content_hash(prepared.dump());
  }
  if (const fs::path fingerprint = run / kFingerprintFile; fs::exists(fingerprint, unseen))
    facts["fingerprint"] = without_paths(Json(read_json(fingerprint)), kMostListed);
  facts["left_out"] = left_out(run / "quarantine.csv");
  return facts;
}

}  // namespace voxshard
