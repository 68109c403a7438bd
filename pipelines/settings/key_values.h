// The keys of the original's config files: a row per key describes its effect, and KeyValues holds a file's keys while
// they are translated to settings. It takes keys out one by one, adds settings that the file does not give itself, and
// records for each setting the keys that it follows from.
//
//   KeyValues keys(values);
//   if (const auto classes = keys.take("num_classes")) keys.put("classes", *classes, {"num_classes"});
//   keys.followed().at("classes");                               // {"num_classes"}
//
// Called by original_keys.cc and retinanet_keys.cc.
#pragma once

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "pipelines/tpu/tpu_config_text.h"

namespace voxshard {

/// A key of the original.
struct OriginalKey {
  enum class Kind {
    kRenamed,  // becomes the setting `as`
    kFlag,     // true or false, which become the setting `as` with one of two words
    kRule,     // translated by a function of its own
    kFixed,    // only the value `as` (in JSON) is supported; another one is refused
    kEmpty,    // must be empty
    kIdle,     // has no effect here
  };
  const char* key;
  Kind kind;
  const char* does;  // its effect here, or the reason why it has none, or what to use instead
  const char* as = "";
  const char* if_true = "";
  const char* if_false = "";
};

class KeyValues {
 public:
  using Json = nlohmann::json;

  explicit KeyValues(Json& values) : values_(values) {}

  /// Returns true for null and "None", as in the original's flags.
  static bool is_unset(const Json& value) { return value.is_null() || (value.is_string() && value == "None"); }
  /// Returns "[config] num_scales is 5; expected 3".
  static Error error(const std::string& key, const Json& value, const std::string& expected) {
    return Error(ErrorKind::kConfig, "[config] " + key + " is " + shown(value) + "; expected " + expected);
  }

  /// Removes a key and returns its value; nullopt when it is missing or unset.
  std::optional<Json> take(const std::string& key) {
    const auto found = values_.find(key);
    if (found == values_.end()) return std::nullopt;
    Json value = *found;
    values_.erase(found);
    if (is_unset(value)) return std::nullopt;
    return value;
  }
  /// The same for a flag. Errors: kConfig when it is neither true nor false.
  std::optional<bool> take_flag(const std::string& key) {
    const auto value = take(key);
    if (!value) return std::nullopt;
    if (!value->is_boolean()) throw error(key, *value, "true or false");
    return value->get<bool>();
  }
  /// The same for a number. Errors: kConfig when it is no number in [least, most].
  std::optional<double> take_number(const std::string& key, double least, double most) {
    const auto value = take(key);
    if (!value) return std::nullopt;
    if (!value->is_number() || !(value->get<double>() >= least && value->get<double>() <= most))
      throw error(key, *value, "a number of " + Json(least).dump() + " to " + Json(most).dump());
    return value->get<double>();
  }
  /// True when an option is given, with - or _ between its words.
  bool has(std::string option) const {
    if (values_.contains(option)) return true;
    std::replace(option.begin(), option.end(), '-', '_');
    return values_.contains(option);
  }
  /// Adds a setting that the file does not give itself. `keys`: the keys that it follows from.
  void put(const std::string& option, const Json& value, std::initializer_list<const char*> keys) {
    if (!has(option)) values_[option] = value;
    if (values_.contains(option) && values_[option] == value) followed_[option].insert(keys.begin(), keys.end());
  }
  /// Removes a setting because of a key.
  void drop(const std::string& option, const char* key) {
    if (values_.erase(option) > 0) dropped_[key].insert(option);
  }
  /// Translates the keys of these rows, except those of kind kRule. `notes`: "[config] tpu has no effect: ...".
  void take(std::span<const OriginalKey> rows, std::vector<std::string>& notes);
  /// followed() has for each setting the keys that it follows from, dropped() for each key the settings that it
  /// removed.
  const std::map<std::string, std::set<std::string>>& followed() const { return followed_; }
  const std::map<std::string, std::set<std::string>>& dropped() const { return dropped_; }
  Json& values() { return values_; }

 private:
  Json& values_;
  std::map<std::string, std::set<std::string>> followed_, dropped_;
};

}  // namespace voxshard
