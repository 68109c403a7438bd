#include "pipelines/commands/run_description.h"

#include <algorithm>
#include <set>

#include "io/files/config_file.h"
#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/model_runs/run_record.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNames = 50;  // of classes, options and fields in a line

/// Returns the member of that name; null when there is none.
const nlohmann::json& member(const nlohmann::json& json, const std::string& name) {
  static const nlohmann::json none;
  const auto found = json.is_object() ? json.find(name) : json.end();
  return json.is_object() && found != json.end() ? *found : none;
}

/// "4", "bf16", "on", "2x2x2"; empty for what is not shown in a line.
std::string short_value(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
  if (value.is_number_float()) return significant_text(value.get<double>());
  if (value.is_number()) return value.dump();
  if (!value.is_array() || value.empty() || value.size() > 6) return "";
  std::string text;
  for (const nlohmann::json& one : value) {
    if (one.is_structured() || one.is_null()) return "";
    text += (text.empty() ? "" : " ") + short_value(one);
  }
  return text;
}

/// "base_filters 4, depth 3": the members that are values, or short lists of them.
std::string values_text(const nlohmann::json& json, const std::set<std::string>& but = {}) {
  std::vector<std::string> parts;
  if (json.is_object())
    for (const auto& [name, value] : json.items()) {
      const std::string text = but.contains(name) ? "" : short_value(value);
      if (!text.empty() && parts.size() < kMostNames) parts.push_back(name + " " + text);
    }
  return joined(parts, ", ");
}

/// Returns the names of the classes, without the background; empty when the task keeps them in another form.
std::vector<std::string> class_names(const nlohmann::json& preparation) {
  std::vector<std::string> names;
  for (const char* key : {"class_names", "classes"}) {
    const nlohmann::json& list = member(preparation, key);
    if (!list.is_array() || !names.empty()) continue;
    for (const nlohmann::json& one : list) {
      const nlohmann::json& name = one.is_string() ? one : member(one, "name");
      if (name.is_string() && name != "background" && names.size() < 4096) names.push_back(name.get<std::string>());
    }
  }
  return names;
}

std::string line(const std::string& head, const std::string& text) {
  return text.empty() ? "" : "  " + head + ": " + plain_text(text) + "\n";
}

/// "dice 0.153 at step 6 (lungs 0.096, liver 0.367)".
std::string validation_text(const RunDescription& run) {
  if (!run.status.recent.validation) return "";
  const ValidationMetrics& v = *run.status.recent.validation;
  const std::vector<std::string> names = class_names(run.preparation);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < v.by_class.size() && i < kMostNames; ++i)
    parts.push_back((names.size() == v.by_class.size() ? names[i] : "class " + std::to_string(i + 1)) + " " +
                    fixed_text(v.by_class[i]));
  return v.metric + " " + fixed_text(v.score) + " at step " + std::to_string(v.step) +
         (parts.empty() ? "" : " (" + joined(parts, ", ") + ")") +
         (run.status.best_score ? ", best " + fixed_text(*run.status.best_score) : "");
}

std::string cases_text(const nlohmann::json& record) {
  const nlohmann::json &report = member(record, "report"), &cases = member(member(record, "training"), "cases");
  const auto count = [&](const char* key) {
    return member(report, key).is_number() ? member(report, key).dump() : std::string();
  };
  const std::string trained = !count("train_cases").empty() ? count("train_cases")
                              : cases.is_array()            ? std::to_string(cases.size())
                                                            : "";
  if (trained.empty()) return "";
  const std::string validating = count("validation_cases");
  return trained + (trained == "1" ? " case is trained on" : " cases are trained on") +
         (validating.empty() ? "" : ", " + validating + (validating == "1" ? " validates" : " validate"));
}

std::string options_text(const nlohmann::json& record) {
  std::vector<std::string> given, chosen;
  const nlohmann::json& layers = member(record, "layers");
  if (layers.is_object())
    for (const auto& [name, layer] : layers.items())
      if (layer == "command line" && given.size() < kMostNames)
        given.push_back("{" + name + "} " + short_value(member(member(record, "options"), name)));
  for (const nlohmann::json& choice : member(record, "recipe"))
    if (member(choice, "option").is_string() && chosen.size() < kMostNames)
      chosen.push_back("{" + member(choice, "option").get<std::string>() + "} " + short_value(member(choice, "value")));
  return line("given", joined(given, " ")) + line("chosen", joined(chosen, " "));
}

}  // namespace

RunDescription describe_run(const fs::path& run) {
  RunDescription description{
      .status = run_status(run), .record = *read_run_record(run), .preparation = {}, .checkpoints = {}};
  if (std::error_code unseen; fs::exists(run / "plans.json", unseen))
    description.preparation = member(read_json(run / "plans.json"), "prepare");
  std::error_code error;
  for (fs::directory_iterator it(run / "checkpoints", error), end; !error && it != end; it.increment(error)) {
    const fs::path file = it->path();
    fs::path beside = file;
    if (file.extension() != ".safetensors" || !fs::exists(beside.replace_extension(".json"), error)) continue;
    const nlohmann::json about = read_json(beside);
    const nlohmann::json& step = member(about, "step");
    const auto bytes = fs::file_size(file, error);
    if (!error && step.is_number_integer())
      description.checkpoints.push_back(
          {file.filename().string(), step.get<std::int64_t>(), static_cast<std::int64_t>(bytes)});
  }
  std::ranges::sort(description.checkpoints, {}, &RunCheckpoint::name);
  return description;
}

nlohmann::ordered_json to_json(const RunDescription& run) {
  nlohmann::ordered_json checkpoints = nlohmann::ordered_json::array();
  for (const RunCheckpoint& one : run.checkpoints)
    checkpoints.push_back({{"name", one.name}, {"step", one.step}, {"bytes", one.bytes}});
  nlohmann::ordered_json json = {{"path", run.status.run.string()},
                                 {"status", to_json(run.status)},
                                 {"classes", class_names(run.preparation)},
                                 {"preparation", run.preparation},
                                 {"checkpoints", checkpoints}};
  for (const char* key : {"version", "model", "training", "options", "recipe", "machine", "from"})
    if (const nlohmann::json& value = member(run.record, key); !value.is_null()) json[key] = value;
  return json;
}

std::string to_text(const RunDescription& run) {
  const nlohmann::json &record = run.record, &model = member(record, "model");
  std::vector<std::string> checkpoints;
  for (const RunCheckpoint& one : run.checkpoints)
    checkpoints.push_back(one.name + " (step " + std::to_string(one.step) + ", " + bytes_text(one.bytes) + ")");
  const nlohmann::json& parameters = member(member(record, "report"), "parameters");
  return plain_text(run.status.run.string()) + "\n" + "  a run of voxshard train, " + state_name(run.status.state) +
         ": " + std::to_string(run.status.step) + " of " + std::to_string(run.status.steps) + " steps\n" +
         line("model", short_value(member(model, "model")) +
                           (parameters.is_number() ? ", " + parameters.dump() + " parameters" : "")) +
         line("its settings", values_text(model, {"model"})) +
         line("classes", joined(class_names(run.preparation), ", ")) + line("data", cases_text(record)) +
         line("prepared", values_text(run.preparation, {"class_names", "classes"})) +
         line("training", values_text(member(record, "training"), {"cases"})) + options_text(record) +
         line("begun with", short_value(member(member(record, "from"), "run"))) +
         line("validation", validation_text(run)) + line("checkpoints", joined(checkpoints, ", ")) +
         line("made by", "voxshard " + short_value(member(record, "version")) + " on " +
                             short_value(member(member(record, "machine"), "processor")));
}

}  // namespace voxshard
