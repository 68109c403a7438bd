#include "io/boxes/coco_json.h"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "io/files/config_file.h"
#include "libcore/base/error.h"

namespace voxshard {
namespace {

using nlohmann::json;

/// All of train2017 takes 450 MB; most of its values are segmentations, which are dropped as they are read.
constexpr TextLimits kCocoLimits{.bytes = std::int64_t{2} << 30, .depth = 32, .values = 200'000'000};
constexpr double kMostSize = 1e9;
constexpr double kMostWhole = 9007199254740992;  // 2^53: exact in a double

/// A value in at most 40 characters, for messages.
std::string shown(const json& value) {
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() <= 40 ? text : text.substr(0, 37) + "...";
}

const json& field_of(const json& entry, const char* field) {
  if (!entry.is_object()) throw EntryProblem("is " + shown(entry) + ", not an object");
  const auto found = entry.find(field);
  if (found == entry.end()) throw EntryProblem(std::string("has no \"") + field + "\"");
  return *found;
}

[[noreturn]] void wrong(const char* field, const json& value, const char* expected) {
  throw EntryProblem(std::string("has \"") + field + "\": " + shown(value) + "; expected " + expected);
}

bool is_size(const json& value) {
  if (!value.is_number()) return false;
  const double v = value.get<double>();
  return std::isfinite(v) && std::abs(v) <= kMostSize;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '+' || c == '-' || c == '.'; }

bool is_not_finite(const std::string& word) {
  if (word == "NaN" || word == "Infinity" || word == "-Infinity") return true;
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  return end != word.c_str() && *end == '\0' && !std::isfinite(value);
}

}  // namespace

void null_not_finite(std::string& text) {
  std::string mended;
  mended.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i)
        if (text[i] == '\\') ++i;
      i = std::min(i + 1, text.size());
    } else if (is_word(text[i])) {
      while (i < text.size() && is_word(text[i])) ++i;
      if (is_not_finite(text.substr(begin, i - begin))) {
        mended += "null";
        continue;
      }
    } else {
      ++i;
    }
    mended.append(text, begin, i - begin);
  }
  text = std::move(mended);
}

json read_coco_json(const std::filesystem::path& path) {
  return read_json(path, {.mend = null_not_finite, .left_out = "segmentation", .limits = kCocoLimits});
}

std::int64_t whole_number(const json& entry, const char* field) {
  const json& value = field_of(entry, field);
  const double v = value.is_number() ? value.get<double>() : NAN;
  if (!(std::abs(v) <= kMostWhole) || v != std::floor(v)) wrong(field, value, "a whole number");
  return static_cast<std::int64_t>(v);
}

double real_number(const json& entry, const char* field) {
  const json& value = field_of(entry, field);
  if (!is_size(value)) wrong(field, value, "a number of at most 1e9");
  return value.get<double>();
}

std::string text_field(const json& entry, const char* field) {
  const json& value = field_of(entry, field);
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) wrong(field, value, "a text");
  return value.get<std::string>();
}

std::array<double, 4> four_numbers(const json& entry, const char* field) {
  const json& value = field_of(entry, field);
  if (!value.is_array() || value.size() != 4) wrong(field, value, "four numbers");
  std::array<double, 4> numbers{};
  for (std::size_t i = 0; i < 4; ++i) {
    if (!is_size(value[i])) wrong(field, value, "four numbers of at most 1e9");
    numbers[i] = value[i].get<double>();
  }
  return numbers;
}

bool has(const json& entry, const char* field) {
  const auto found = entry.is_object() ? entry.find(field) : entry.end();
  return found != entry.end() && !found->is_null();
}

bool flag(const json& entry, const char* field) {
  if (!has(entry, field)) return false;
  const json& value = entry[field];
  if (value.is_boolean()) return value.get<bool>();
  if (value != 0 && value != 1) wrong(field, value, "0 or 1");
  return value == 1;
}

}  // namespace voxshard
