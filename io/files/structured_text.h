// The one place where JSON, TOML, YAML and XML are parsed. Such text is untrusted, so its size, depth and number of
// values are bounded before a parser sees it: 200,000 nested brackets give an error message, not a stack overflow.
//
//   const TextSource source{.path = "train.json", .kind = ErrorKind::kConfig, .tag = "[config] ", .limits =
//   kConfigLimits}; nlohmann::json config = parse_json(read_text(source), source);
//
// Called by io/files/config_file.cc for files, and by the readers of safetensors, devices and VOC; the structure test
// checks that no other code calls a parser.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "libcore/base/error.h"

namespace pugi {
class xml_document;
}

namespace voxshard {

struct TextLimits {
  std::int64_t bytes = 0;
  int depth = 0;            // brackets inside brackets, parts of a dotted key, elements inside elements
  std::int64_t values = 0;  // commas and opening brackets; TOML: lines too; XML: tags; YAML: all values
};
/// Limits for settings that a person writes.
inline constexpr TextLimits kConfigLimits{.bytes = std::int64_t{16} << 20, .depth = 64, .values = 1'000'000};
/// Limits for data sets, plans and runs.
inline constexpr TextLimits kDataLimits{.bytes = std::int64_t{256} << 20, .depth = 64, .values = 20'000'000};

/// The origin of a text, for messages, and its limits.
struct TextSource {
  std::filesystem::path path;  // empty: messages name no file
  ErrorKind kind = ErrorKind::kInput;
  const char* tag = "[input] ";
  TextLimits limits = kDataLimits;
};

/// Reads a whole regular file. Errors: `kind` when it cannot be read; E_LIMIT for more than limits.bytes. Reading stops
/// at the limit, because files in /proc and /sys state no size.
std::string read_text(const TextSource& source);

/// The same for a list of names beside the data, within kConfigLimits; empty when there is no such file. Errors:
/// kInput.
std::string read_text_if_there(const std::filesystem::path& path);

/// Parses JSON. Errors: `kind` with E_SYNTAX "train.json:12: is not valid JSON: …", also for a name that occurs twice
/// in an object; with E_LIMIT for text that exceeds the limits.
///   left_out  the name whose values are dropped as they are read, in objects of any level; empty: none is dropped
nlohmann::json parse_json(std::string_view text, const TextSource& source, const std::string& left_out = {});

/// Unpacks JSON that another rank has packed with to_cbor(): numbers to the last bit, names in their order. The
/// receiver bounds its size. Errors: kInternal.
nlohmann::ordered_json unpack_cbor(std::string_view packed);

/// TOML as JSON; dates and times become strings. Errors: as parse_json, with line and column.
nlohmann::json parse_toml(std::string_view text, const TextSource& source);

/// YAML as JSON, one document; io/files/yaml_tree.h gives the meaning of plain words. Errors: as parse_json; also for a
/// name that occurs twice, tags outside of YAML's core schema, and aliases that expand beyond the limits.
nlohmann::json parse_yaml(std::string_view text, const TextSource& source);

/// Parses `text` into `xml`, which is replaced. Errors: as parse_json, with the byte.
void parse_xml(pugi::xml_document& xml, std::string_view text, const TextSource& source);

}  // namespace voxshard
