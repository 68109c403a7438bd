#include "io/files/yaml_tree.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <regex>

#include "io/files/file_name.h"

namespace voxshard {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const YAML::Mark& mark, const std::string& what, const char* code = "E_SYNTAX") {
  throw YamlProblem{.line = mark.line + 1, .code = code, .what = what};
}

constexpr const char* kCoreTag = "tag:yaml.org,2002:";

bool is_one_of(const std::string& text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return text == word; });
}

/// Longest number in characters: longer ones are read as text, which keeps the regular expressions below cheap.
constexpr std::size_t kMostNumber = 64;

std::optional<json> whole_number(const YAML::Mark& mark, const std::string& text) {
  static const std::regex kDecimal("[-+]?[0-9]+"), kHex("0x[0-9a-fA-F]+"), kOctal("0o[0-7]+");
  if (text.size() > kMostNumber) return std::nullopt;
  const bool hex = std::regex_match(text, kHex), octal = std::regex_match(text, kOctal);
  if (!hex && !octal && !std::regex_match(text, kDecimal)) return std::nullopt;
  const std::size_t digits = text.find_first_not_of("+-");
  if (!hex && !octal && text[digits] == '0' && text.size() > digits + 1)
    refuse(
        mark,
        text +
            " is a number to base 8 for some and to base 10 for others; write it without the 0 in front, or in quotes");
  std::int64_t number = 0;
  const char* begin = text.data() + (hex || octal ? 2 : text[0] == '+' ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number, hex ? 16 : octal ? 8 : 10);
  if (error != std::errc()) refuse(mark, text + " is a number beyond 64 bits");
  return number;
}

std::optional<json> real_number(const YAML::Mark& mark, const std::string& text) {
  static const std::regex kReal(R"([-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?)");
  if (is_one_of(text, {".inf", "+.inf", ".Inf", ".INF"})) return std::numeric_limits<double>::infinity();
  if (is_one_of(text, {"-.inf", "-.Inf", "-.INF"})) return -std::numeric_limits<double>::infinity();
  if (is_one_of(text, {".nan", ".NaN", ".NAN"})) return std::numeric_limits<double>::quiet_NaN();
  if (text.size() > kMostNumber || !std::regex_match(text, kReal)) return std::nullopt;
  double number = 0;
  const char* begin = text.data() + (text[0] == '+' ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    refuse(mark, text + " is a number that no double holds");
  return number;
}

/// Returns the value of a scalar without quotes.
json plain(const YAML::Mark& mark, const std::string& text) {
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return nullptr;
  if (is_one_of(text, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})) return true;
  if (is_one_of(text, {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"})) return false;
  if (const auto number = whole_number(mark, text)) return *number;
  if (const auto number = real_number(mark, text)) return *number;
  return text;
}

json scalar(const YAML::Mark& mark, const std::string& tag, const std::string& text) {
  if (tag == "!" || tag == std::string(kCoreTag) + "str") return text;
  if (tag.empty() || tag == "?") return plain(mark, text);
  for (const char* name : {"int", "float", "bool", "null"})
    if (tag == std::string(kCoreTag) + name) return plain(mark, text);
  refuse(mark, "has the tag " + shown_name(tag) + ", which is not known; leave it out");
}

}  // namespace

YamlTree::Json YamlTree::value() && { return std::move(root_); }

void YamlTree::OnDocumentStart(const YAML::Mark& mark) {
  if (++documents_ > 1) refuse(mark, "begins a second document; keep one");
}

bool YamlTree::wants_key() const {
  return !open_.empty() && open_.back().counted.value.is_object() && !open_.back().key;
}

void YamlTree::count(const YAML::Mark& mark, std::int64_t values, std::int64_t bytes) {
  values_ += values, bytes_ += bytes;
  if (values_ > limits_.values)
    refuse(mark,
           "makes more than " + std::to_string(limits_.values) +
               " values, anchors and aliases counted as what they stand for",
           "E_LIMIT");
  if (bytes_ > limits_.bytes)
    refuse(mark,
           "makes more than " + std::to_string(limits_.bytes) +
               " bytes, anchors and aliases counted as what they stand for",
           "E_LIMIT");
}

void YamlTree::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  count(mark, 1, 0);
  if (wants_key()) refuse(mark, "has a value without a name");
  add(mark, {.value = nullptr}, anchor);
}

void YamlTree::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                        const std::string& value) {
  const auto bytes = static_cast<std::int64_t>(value.size());
  count(mark, 1, bytes);
  std::string without_breaks = value;
  std::erase_if(without_breaks, [](char c) { return c == '\n' || c == '\t'; });
  if (const std::string problem = text_problem(without_breaks); !problem.empty())
    refuse(mark, "has a text that " + problem);
  if (wants_key()) {
    if (anchor != 0) keep(mark, {.value = value, .bytes = bytes}, anchor);
    return take_key(mark, value, tag != "!");
  }
  add(mark, {.value = scalar(mark, tag, value), .bytes = bytes}, anchor);
}

void YamlTree::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const auto found = anchors_.find(anchor);
  if (found == anchors_.end()) refuse(mark, "has an alias for something that holds it");
  count(mark, found->second.values, found->second.bytes);
  if (wants_key()) {
    if (!found->second.value.is_string()) refuse(mark, "has a name that is no text");
    return take_key(mark, found->second.value.get<std::string>(), false);
  }
  if (static_cast<std::int64_t>(open_.size()) + found->second.depth > limits_.depth)
    refuse(mark, "is nested deeper than " + std::to_string(limits_.depth) + " levels", "E_LIMIT");
  add(mark, found->second, 0);
}

void YamlTree::OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                               YAML::EmitterStyle::value) {
  open(mark, tag, anchor, Json::array());
}
void YamlTree::OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                          YAML::EmitterStyle::value) {
  open(mark, tag, anchor, Json::object());
}

void YamlTree::open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Json empty) {
  count(mark, 1, 0);
  last_line_ = mark.line;
  if (wants_key()) refuse(mark, "has a list or a map where a name is expected");
  if (!is_one_of(tag, {"", "?", "!"}) && tag != std::string(kCoreTag) + (empty.is_array() ? "seq" : "map"))
    refuse(mark, "has the tag " + shown_name(tag) + ", which is not known; leave it out");
  if (static_cast<std::int64_t>(open_.size()) >= limits_.depth)
    refuse(
        mark,
        "is nested deeper than " + std::to_string(limits_.depth) + " levels; check that it is the file that was meant",
        "E_LIMIT");
  open_.push_back({.counted = {.value = std::move(empty), .depth = 1}, .anchor = anchor, .key = {}, .merged = {}});
}

void YamlTree::close() {
  Open done = std::move(open_.back());
  open_.pop_back();
  for (const Json& merged : done.merged)
    for (const auto& [key, value] : merged.items())
      if (!done.counted.value.contains(key)) done.counted.value[key] = value;
  YAML::Mark mark;
  mark.line = last_line_;
  add(mark, std::move(done.counted), done.anchor);
}

void YamlTree::take_key(const YAML::Mark& mark, const std::string& key, bool plain_word) {
  Open& map = open_.back();
  if (map.counted.value.contains(key) && !(plain_word && key == "<<"))
    refuse(mark, "has the name \"" + shown_name(key) + "\" twice; keep one");
  map.key = key;
}

void YamlTree::keep(const YAML::Mark& mark, const Counted& counted, YAML::anchor_t anchor) {
  count(mark, counted.values, counted.bytes);
  anchors_[anchor] = counted;
}

void YamlTree::add(const YAML::Mark& mark, Counted counted, YAML::anchor_t anchor) {
  if (anchor != 0) keep(mark, counted, anchor);
  if (open_.empty()) {
    root_ = counted.value.is_null() ? Json::object() : std::move(counted.value);
    return;
  }
  Open& into = open_.back();
  into.counted.values += counted.values, into.counted.bytes += counted.bytes;
  into.counted.depth = std::max(into.counted.depth, counted.depth + 1);
  if (into.counted.value.is_array()) {
    into.counted.value.push_back(std::move(counted.value));
    return;
  }
  const std::string key = *std::exchange(into.key, std::nullopt);
  if (key != "<<") {
    into.counted.value[key] = std::move(counted.value);
    return;
  }
  std::vector<Json> maps;
  if (counted.value.is_array())
    for (Json& part : counted.value) maps.push_back(std::move(part));
  else
    maps.push_back(std::move(counted.value));
  for (Json& part : maps) {
    if (!part.is_object()) refuse(mark, "merges with << what is no map");
    into.merged.push_back(std::move(part));
  }
}

}  // namespace voxshard
