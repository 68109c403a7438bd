#include "apps/words/config_args.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "libcore/base/error.h"
#include "libcore/base/spelling.h"
#include "pipelines/settings/original_keys.h"
#include "pipelines/tpu/tpu_config_line.h"

namespace voxshard {
namespace {

const CLI::Option* find_option(const CLI::App& app, std::string key) {
  std::replace(key.begin(), key.end(), '_', '-');
  if (key == "help" || key == "help-all" || key == "config" || key == "version") return nullptr;
  return app.get_option_no_throw("--" + key);
}

bool is_given(const CLI::Option& option, const std::vector<std::string>& words) {
  const auto names_it = [&](const std::string& word) {
    for (const auto& name : option.get_lnames())
      if (word == "--" + name || word.starts_with("--" + name + "=")) return true;
    for (const auto& name : option.get_snames())
      if (word.starts_with("-" + name) && !word.starts_with("--")) return true;
    return false;
  };
  return std::any_of(words.begin(), words.end(), names_it);
}

/// Returns every key that a config file may have at its top level.
std::vector<std::string> known_keys(const std::vector<const CLI::App*>& apps) {
  std::vector<std::string> keys = reference_model_keys();
  for (const auto* app : apps)
    for (const auto* option : app->get_options())
      for (const auto& name : option->get_lnames()) keys.push_back(name);
  return keys;
}

std::string value_text(const std::string& key, const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float() && !std::isfinite(value.get<double>()))
    return std::to_string(value.get<double>());  // JSON cannot express it
  if (value.is_boolean() || value.is_number()) return value.dump();
  if (!value.is_array() || value.empty())
    throw Error(ErrorKind::kConfig, "[config] the value of \"" + key + "\" is " + value.dump() +
                                        "; expected a number, a text, true, false or a list of them");
  std::string text;
  for (const auto& part : value) text += (text.empty() ? "" : ",") + value_text(key, part);
  return text;
}

}  // namespace

nlohmann::json config_json(const std::string& path) {
  try {
    return read_config(path);
  } catch (const Error& e) {
    const auto form = path.ends_with(".json")                            ? ConfigForm::kJson
                      : path.ends_with("ml") && !path.ends_with(".toml") ? ConfigForm::kYaml
                                                                         : ConfigForm::kToml;
    const auto better = std::string_view(e.code()) == "E_SYNTAX"
                            ? mended_dims_line(config_line(path, "input_partition_dims"), form)
                            : std::nullopt;
    if (better) throw Error(e.kind(), e.code(), std::string(e.what()) + "; write " + *better);
    throw;
  }
}

ConfigValues config_values(const nlohmann::json& config, const CLI::App& root, const std::string& subcommand,
                           const std::vector<std::string>& command_line) {
  if (!config.is_object()) throw Error(ErrorKind::kConfig, "[config] expected keys and values at the top level");
  const auto subcommands = root.get_subcommands([](const CLI::App*) { return true; });
  const auto find_app = [&](const std::string& name) -> const CLI::App* {
    for (const auto* app : subcommands)
      if (app->get_name() == name) return app;
    return nullptr;
  };
  const CLI::App* chosen = find_app(subcommand);
  ensure(chosen != nullptr, "the subcommand is in the table");

  nlohmann::json values = nlohmann::json::object();  // by long name; sections override the top level
  const auto take = [&](const CLI::App& app, const std::string& key, const nlohmann::json& value) {
    if (const auto* option = find_option(app, key)) values[option->get_lnames().at(0)] = value;
  };
  for (const auto& [key, value] : config.items()) {
    if (value.is_object()) continue;
    if (std::none_of(subcommands.begin(), subcommands.end(),
                     [&](const auto* app) { return find_option(*app, key) != nullptr; }))
      throw Error(ErrorKind::kConfig, "[config] no subcommand has an option --" + key + "; did you mean " +
                                          nearest_name(key, known_keys(subcommands)) + "? See voxshard " + subcommand +
                                          " --help");
    take(*chosen, key, value);
  }
  for (const auto& [name, section] : config.items()) {
    if (!section.is_object()) continue;
    const CLI::App* app = find_app(name);
    if (!app) {
      std::vector<std::string> names;
      for (const auto* other : subcommands) names.push_back(other->get_name());
      const auto likely = likely_name(name, names);
      throw Error(ErrorKind::kConfig, "[config] the section [" + name + "] is no subcommand" +
                                          (likely ? "; did you mean [" + *likely + "]?" : ""));
    }
    for (const auto& [key, value] : section.items()) {
      if (!find_option(*app, key))
        throw Error(ErrorKind::kConfig, "[config] " + name + " has no option --" + key + "; did you mean " +
                                            nearest_name(key, known_keys({app})) + "? See voxshard " + name +
                                            " --help");
      if (app == chosen) take(*app, key, value);
    }
  }

  ConfigValues said;
  const auto given = [&](const CLI::Option* option) { return is_given(*option, command_line); };
  for (const auto& [key, value] : values.items()) {
    const auto* option = chosen->get_option_no_throw("--" + key);
    if (!given(option) && std::ranges::none_of(option->get_excludes(), given))
      said.emplace_back(key, value_text(key, value));
  }
  return said;
}

std::vector<std::string> words_of(const ConfigValues& values) {
  std::vector<std::string> words;
  for (const auto& [name, value] : values) words.push_back("--" + name + "=" + value);
  return words;
}

}  // namespace voxshard
