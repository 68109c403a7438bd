// TOML and JSON text to one JSON value. Both parsers know where they stopped; the message begins with that place, in
// the form that editors jump to.
//
//   read_config("train.toml")["train"]["epochs"]
#include "io/files/config_file.h"

#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSyntax = "E_SYNTAX";
using nlohmann::json;

std::string read_text(const fs::path& path, ErrorKind kind, const char* tag) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  if (in) text << in.rdbuf();
  if (!in || fs::is_directory(path))
    throw Error(kind, std::string(tag) + path.string() + ": cannot be read; check the path and its permissions");
  return text.str();
}

/// What nlohmann says after the place.
std::string reason_of(const json::exception& e) {
  const std::string what = e.what();
  const auto reason = what.rfind(": ");
  return reason == std::string::npos ? what : what.substr(reason + 2);
}

json parse_json(const fs::path& path, ErrorKind kind, const char* tag, const JsonReading& reading = {}) {
  std::string text = read_text(path, kind, tag);
  if (reading.mend) reading.mend(text);
  try {
    return json::parse(text, reading.keep);
  } catch (const json::parse_error& e) {
    const auto at = std::min(text.size(), e.byte > 0 ? e.byte - 1 : 0);
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    throw Error(kind, kSyntax, std::string(tag) + path.string() + ":" + std::to_string(line) +
                                   ": is not valid JSON: " + reason_of(e));
  } catch (const json::exception& e) {  // a number that no double holds
    throw Error(kind, kSyntax, std::string(tag) + path.string() + ": is not valid JSON: " + reason_of(e));
  }
}

json to_json(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table: {
      json object = json::object();
      for (const auto& [key, value] : *node.as_table()) object[std::string(key.str())] = to_json(value);
      return object;
    }
    case toml::node_type::array: {
      json list = json::array();
      for (const auto& value : *node.as_array()) list.push_back(to_json(value));
      return list;
    }
    case toml::node_type::string:
      return node.as_string()->get();
    case toml::node_type::integer:
      return node.as_integer()->get();
    case toml::node_type::floating_point:
      return node.as_floating_point()->get();
    case toml::node_type::boolean:
      return node.as_boolean()->get();
    default:
      break;
  }
  std::stringstream text;  // dates and times
  if (node.is_date()) text << node.as_date()->get();
  if (node.is_time()) text << node.as_time()->get();
  if (node.is_date_time()) text << node.as_date_time()->get();
  return text.str();
}

json parse_toml(const fs::path& path) {
  const std::string text = read_text(path, ErrorKind::kConfig, "[config] ");
  try {
    return to_json(toml::parse(text, path.string()));
  } catch (const toml::parse_error& e) {
    const auto& at = e.source().begin;
    throw Error(ErrorKind::kConfig, kSyntax, "[config] " + path.string() + ":" + std::to_string(at.line) + ":" +
                                                 std::to_string(at.column) +
                                                 ": is not valid TOML: " + std::string(e.description()));
  }
}

}  // namespace

json read_config(const fs::path& path) {
  if (path.extension() == ".toml") return parse_toml(path);
  if (path.extension() == ".json") return parse_json(path, ErrorKind::kConfig, "[config] ");
  throw Error(ErrorKind::kConfig, "[config] " + path.string() + ": expected a name that ends in .toml or .json");
}

std::string config_line(const fs::path& path, const std::string& word) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);)
    if (line.find(word) != std::string::npos) return line;
  return {};
}

json read_json(const fs::path& path, const JsonReading& reading) {
  return parse_json(path, ErrorKind::kInput, "[input] ", reading);
}

}  // namespace voxshard
