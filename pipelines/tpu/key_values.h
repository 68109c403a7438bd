// A config file's keys while they become options: taken out one by one, options put in where the file does not give
// them itself.
//
//   KeyValues keys(values);
//   if (const auto classes = keys.take("num_classes")) keys.put("classes", *classes);
//
// Called by tpu_config_keys.cc and retinanet_keys.cc.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/error.h"
#include "pipelines/tpu/tpu_config_text.h"

namespace voxshard {

/// A key that decides nothing here, and why.
struct IdleKey {
  const char* key;
  const char* reason;
};

class KeyValues {
 public:
  using Json = nlohmann::json;

  explicit KeyValues(Json& values) : values_(values) {}

  /// null, "None": as in the original's flags.
  static bool is_unset(const Json& value) { return value.is_null() || (value.is_string() && value == "None"); }
  /// "[config] num_scales is 5; expected 3"
  static Error error(const std::string& key, const Json& value, const std::string& expected) {
    return Error(ErrorKind::kConfig, "[config] " + key + " is " + shown(value) + "; expected " + expected);
  }

  /// The value of a key, which is then gone; nullopt when it is not there or unset.
  std::optional<Json> take(const std::string& key) {
    const auto found = values_.find(key);
    if (found == values_.end()) return std::nullopt;
    Json value = *found;
    values_.erase(found);
    if (is_unset(value)) return std::nullopt;
    return value;
  }
  /// Errors: kConfig when it is neither true nor false.
  std::optional<bool> take_flag(const std::string& key) {
    const auto value = take(key);
    if (!value) return std::nullopt;
    if (!value->is_boolean()) throw error(key, *value, "true or false");
    return value->get<bool>();
  }
  /// Errors: kConfig when it is no number of this range.
  std::optional<double> take_number(const std::string& key, double least, double most) {
    const auto value = take(key);
    if (!value) return std::nullopt;
    if (!value->is_number() || !(value->get<double>() >= least && value->get<double>() <= most))
      throw error(key, *value, "a number of " + Json(least).dump() + " to " + Json(most).dump());
    return value->get<double>();
  }
  /// Whether an option is given, with - or _ between its words.
  bool has(std::string option) const {
    if (values_.contains(option)) return true;
    std::replace(option.begin(), option.end(), '-', '_');
    return values_.contains(option);
  }
  void put(const std::string& option, const Json& value) {
    if (!has(option)) values_[option] = value;
  }
  /// Takes keys that decide nothing and notes each that is set: "[config] tpu has no effect: ...".
  void take_idle(std::span<const IdleKey> rows, std::vector<std::string>& notes) {
    for (const IdleKey& row : rows)
      if (take(row.key)) notes.push_back(std::string("[config] ") + row.key + " has no effect: " + row.reason);
  }
  Json& values() { return values_; }

 private:
  Json& values_;
};

}  // namespace voxshard
