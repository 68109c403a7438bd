// The one place where JSON, TOML, YAML and XML are parsed. Such text comes from others, so its size, its depth and the
// number of its values are bounded before a parser sees it: 200,000 brackets are a sentence to the reader, not the end
// of the stack.
//
//   const TextSource source{.path = "train.json", .kind = ErrorKind::kConfig, .tag = "[config] ", .limits =
//   kConfigLimits}; nlohmann::json config = parse_json(read_text(source), source);
//
// Called by io/files/config_file.cc for files, by the readers of safetensors, devices and VOC for theirs; the structure
// test sees to it that nobody else calls a parser.
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
  std::int64_t values = 0;  // commas and opening brackets; of TOML lines too, of XML tags, of YAML all values
};
/// Settings that a person writes.
inline constexpr TextLimits kConfigLimits{.bytes = std::int64_t{16} << 20, .depth = 64, .values = 1'000'000};
/// Data sets, plans, runs.
inline constexpr TextLimits kDataLimits{.bytes = std::int64_t{256} << 20, .depth = 64, .values = 20'000'000};

/// Where a text comes from, for the messages, and what it may take.
struct TextSource {
  std::filesystem::path path;  // none: messages begin with what is wrong
  ErrorKind kind = ErrorKind::kInput;
  const char* tag = "[input] ";
  TextLimits limits = kDataLimits;
};

/// The whole of a regular file. Errors: `kind` for one that cannot be read; E_LIMIT for more than limits.bytes, of
/// which no more is read (files of the kernel have no size).
std::string read_text(const TextSource& source);

/// The same of a list of names beside the data, within kConfigLimits; empty when there is no such file. Errors: kInput.
std::string read_text_if_there(const std::filesystem::path& path);

/// Errors: `kind` with E_SYNTAX "train.json:12: is not valid JSON: …", also for a name that an object has twice; with
/// E_LIMIT for what is beyond the limits.
///   left_out  the name whose values are dropped as they are read, in objects of any level; empty: of none
nlohmann::json parse_json(std::string_view text, const TextSource& source, const std::string& left_out = {});

/// What another rank of this program has packed with to_cbor(): numbers to the last bit, names in their order. Its size
/// is bounded where it is received. Errors: kInternal.
nlohmann::ordered_json unpack_cbor(std::string_view packed);

/// TOML as JSON; dates and times become strings. Errors: as parse_json, with line and column.
nlohmann::json parse_toml(std::string_view text, const TextSource& source);

/// YAML as JSON, one document; io/files/yaml_tree.h says what words mean. Errors: as parse_json; also for a name that
/// is there twice, tags that are not of YAML's core, and aliases that stand for more than the limits.
nlohmann::json parse_yaml(std::string_view text, const TextSource& source);

/// Replaces `xml`. Errors: as parse_json, with the byte.
void parse_xml(pugi::xml_document& xml, std::string_view text, const TextSource& source);

}  // namespace voxshard
