#include "pipelines/settings/key_uses.h"

#include <algorithm>

#include "libcore/base/text.h"
#include "pipelines/settings/key_values.h"
#include "pipelines/settings/original_keys.h"
#include "pipelines/tpu/tpu_config_text.h"

namespace voxshard {
namespace {

using nlohmann::json;

std::string shown_value(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

KeyUse use_of(const OptionValues& whole, const std::string& section, const std::string& key, const json& value) {
  KeyUse use{.key = section.empty() ? key : section + "." + key,
             .value = value,
             .options = json::object(),
             .effect = "",
             .does = ""};
  if (KeyValues::is_unset(value)) {
    use.effect = "not set";
    return use;
  }
  const bool of_command = !section.empty() && section != "tpu_config";  // the section of a command is kept as a section
  json options = json::object();
  for (const auto& [option, keys] : whole.followed)
    if (keys.contains(key) && whole.values.contains(option)) options[option] = whole.values.at(option);
  const json& own = of_command ? whole.values.at(section) : whole.values;
  if (own.contains(key)) options[key] = own.at(key);
  std::vector<std::string> effects;
  if (const auto dropped = whole.dropped.find(key); dropped != whole.dropped.end())
    for (const std::string& option : dropped->second) effects.push_back("without " + option);
  for (const auto& [option, now] : options.items()) effects.push_back(option + " = " + shown_value(now));
  if (of_command)
    use.options[section] = options;
  else
    use.options = options;
  const auto& rows = original_keys();
  const auto row = std::ranges::find(rows, key, &OriginalKey::key);
  const bool idle = row != rows.end() && row->kind == OriginalKey::Kind::kIdle;
  if (row != rows.end()) use.does = row->does;
  use.effect = !effects.empty() ? joined(effects, ", ") : idle ? "no effect: " + use.does : "as always here";
  return use;
}

}  // namespace

std::vector<KeyUse> key_uses(const json& config) {
  const OptionValues whole = with_option_names(config);
  std::vector<KeyUse> uses;
  if (!config.is_object()) return uses;
  for (const auto& [key, value] : config.items())
    if (!value.is_object()) uses.push_back(use_of(whole, "", key, value));
  for (const auto& [section, values] : config.items()) {
    if (!values.is_object()) continue;
    for (const auto& [key, value] : values.items()) uses.push_back(use_of(whole, section, key, value));
  }
  return uses;
}

nlohmann::ordered_json to_json(const std::vector<KeyUse>& uses) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const KeyUse& use : uses)
    list.push_back(
        {{"key", use.key}, {"value", use.value}, {"options", use.options}, {"effect", use.effect}, {"does", use.does}});
  return list;
}

std::string to_text(const std::vector<KeyUse>& uses) {
  std::string text;
  std::size_t keys = 0, values = 0;
  for (const KeyUse& use : uses)
    keys = std::max(keys, use.key.size()),
    values = std::max(values, std::min<std::size_t>(shown_value(use.value).size(), 40));
  const auto padded = [](std::string word, std::size_t width) {
    if (word.size() < width) word.append(width - word.size(), ' ');
    return word;
  };
  for (const KeyUse& use : uses)
    text += padded(use.key, keys) + "  " + padded(shown_value(use.value), values) + "  " + use.effect +
            (use.does.empty() || use.effect.ends_with(use.does) ? "" : " (" + use.does + ")") + "\n";
  return text;
}

}  // namespace voxshard
