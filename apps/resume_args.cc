#include "apps/resume_args.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "pipelines/profile/device_files.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::array kOfOneCall = {"help", "config", "threads", "json", "quiet", "output", "resume", "restart", "accept-changes"};

/// The long name; empty for what is known by its place.
std::string name_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? std::string() : option.get_lnames().front();
}

bool is_of_one_call(const std::string& name) {
  return name.starts_with("trace") || std::find(kOfOneCall.begin(), kOfOneCall.end(), name) != kOfOneCall.end();
}

GivenOptions read_given(const fs::path& run) {
  const fs::path file = run / "run.json";
  if (!fs::exists(file))
    throw Error(ErrorKind::kInput, "[resume] " + run.string() + " holds no run: " + file.string() +
                                       " is missing; give the run folder, or all options: train WORK -o RUN --resume");
  const nlohmann::json json = read_json(file);
  try {
    return json.at("options").get<GivenOptions>();
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::kCheckpoint,
                "[resume] " + file.string() +
                    " does not keep the options of its run (an older version wrote it); give them all: "
                    "train WORK -o " +
                    run.string() + " --resume ...");
  }
}

void say_unless_given(CLI::App& app, const std::string& name, const std::string& value) {
  CLI::Option* option = app.get_option_no_throw("--" + name);
  if (option == nullptr || option->count() > 0) return;
  option->add_result(value);
  option->run_callback();
}

/// What an older version's defaults made of the run, where those of today are others.
void take_defaults_of_run(CLI::App& app, const fs::path& run) {
  const nlohmann::json json = read_json(run / "run.json");
  if (!json.contains("model")) return;
  const ModelSpec spec = model_spec_from_json(json["model"]);
  say_unless_given(app, "norm-scope", spec.norm_over_replica ? "replica" : "all");
  say_unless_given(app, "loss-scope", spec.loss_over_replica ? "replica" : "all");
  for (const ConfigField& row : spec.model->fields)
    if (row.before) say_unless_given(app, row.option_name(), row.said(spec.config));
}

}  // namespace

std::optional<std::vector<Choice>> choices_of_run(const fs::path& run) {
  if (!fs::exists(run / "run.json")) return std::nullopt;
  const nlohmann::json json = read_json(run / "run.json");
  if (!json.is_object() || !json.contains("recipe")) return std::vector<Choice>();
  return choices_from_json(json["recipe"]);
}

GivenOptions given_options(const CLI::App& app) {
  GivenOptions given;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = name_of(*option);
    if (option->count() == 0 || is_of_one_call(name)) continue;
    std::vector<std::string> words = option->results();
    if (option->get_type_name() == kPathType)
      for (std::string& word : words) word = fs::absolute(word).lexically_normal().string();
    if (option->get_type_name() == kDeviceType)
      for (std::string& word : words) word = absolute_device_name(word);
    given[name] = std::move(words);
  }
  return given;
}

void take_options_of_run(CLI::App& app, const fs::path& run) {
  GivenOptions of_run = read_given(run);
  for (CLI::Option* option : app.get_options()) {
    const auto it = of_run.find(name_of(*option));
    if (it == of_run.end()) continue;
    if (it->first.empty()) option->clear();
    if (option->count() == 0 && !is_of_one_call(it->first)) {
      option->add_result(it->second);
      option->run_callback();
    }
    of_run.erase(it);
  }
  if (!of_run.empty())
    throw Error(ErrorKind::kCheckpoint, "[resume] " + (run / "run.json").string() + " keeps the option --" +
                                            of_run.begin()->first +
                                            ", which this version does not have; give all options: train "
                                            "WORK -o " +
                                            run.string() + " --resume ...");
  take_defaults_of_run(app, run);
}

}  // namespace voxshard
