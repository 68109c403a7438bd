#include "pipelines/tpu/key_uses.h"

#include <optional>

#include "libcore/base/text.h"
#include "pipelines/tpu/key_values.h"
#include "pipelines/tpu/tpu_config_keys.h"
#include "pipelines/tpu/tpu_config_text.h"

namespace voxshard {
namespace {

using nlohmann::json;

/// The options of a file; none when it is refused.
std::optional<json> options_of(const json& config) {
  try {
    return with_option_names(config).values;
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Another value than this one of a number or flag, to see what depends on it; null for what has none.
json another(const json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number_integer()) return 2 * value.get<std::int64_t>();
  if (value.is_number()) return 2 * value.get<double>();
  return nullptr;
}

/// What of `whole` is not the same in `other`.
json difference(const json& whole, const json& other) {
  json options = json::object();
  for (const auto& [option, now] : whole.items())
    if (!other.contains(option) || other.at(option) != now) options[option] = now;
  return options;
}

/// Why a key has no effect, by the note about it.
std::string reason(const std::vector<std::string>& notes, const std::string& key) {
  const std::string beginning = "[config] " + key + " has no effect: ";
  for (const std::string& note : notes)
    if (note.starts_with(beginning)) return "no effect: " + note.substr(beginning.size());
  return "";
}

std::string value_text(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

KeyUse use_of(const json& config, const OptionValues& whole, const std::string& section, const std::string& key,
              const json& value) {
  KeyUse use{
      .key = section.empty() ? key : section + "." + key, .value = value, .options = json::object(), .effect = ""};
  if (KeyValues::is_unset(value)) {
    use.effect = "not set";
    return use;
  }
  std::vector<std::string> effects;
  json changed = config;
  json& place = section.empty() ? changed : changed[section];
  place.erase(key);
  if (const auto without = options_of(changed)) {
    use.options = difference(whole.values, *without);
    for (const auto& [option, before] : without->items())
      if (!whole.values.contains(option)) effects.push_back("without " + option);
  }
  if (use.options.empty() && effects.empty() && whole.values.contains(key)) use.options[key] = whole.values.at(key);
  place[key] = another(value);  // what it says is the default, whose options change with it
  if (const auto other = options_of(changed); use.options.empty() && effects.empty() && other && !place[key].is_null())
    use.options = difference(whole.values, *other);
  for (const auto& [option, now] : use.options.items()) effects.push_back(option + " = " + value_text(now));
  use.effect = joined(effects, ", ");
  if (effects.empty()) use.effect = reason(whole.notes, key);
  if (use.effect.empty()) use.effect = "as always here";
  return use;
}

}  // namespace

std::vector<KeyUse> key_uses(const json& config) {
  const OptionValues whole = with_option_names(config);
  std::vector<KeyUse> uses;
  if (!config.is_object()) return uses;
  for (const auto& [key, value] : config.items())
    if (!value.is_object()) uses.push_back(use_of(config, whole, "", key, value));
  for (const auto& [section, values] : config.items()) {
    if (!values.is_object()) continue;
    for (const auto& [key, value] : values.items()) uses.push_back(use_of(config, whole, section, key, value));
  }
  return uses;
}

nlohmann::ordered_json to_json(const std::vector<KeyUse>& uses) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const KeyUse& use : uses)
    list.push_back({{"key", use.key}, {"value", use.value}, {"options", use.options}, {"effect", use.effect}});
  return list;
}

std::string to_text(const std::vector<KeyUse>& uses) {
  std::string text;
  std::size_t keys = 0, values = 0;
  for (const KeyUse& use : uses)
    keys = std::max(keys, use.key.size()),
    values = std::max(values, std::min<std::size_t>(value_text(use.value).size(), 40));
  const auto padded = [](std::string word, std::size_t width) {
    if (word.size() < width) word.append(width - word.size(), ' ');
    return word;
  };
  for (const KeyUse& use : uses)
    text += padded(use.key, keys) + "  " + padded(value_text(use.value), values) + "  " + use.effect + "\n";
  return text;
}

}  // namespace voxshard
