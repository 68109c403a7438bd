// The depth of a text is counted from its brackets, outside of strings and comments, before a parser runs, because
// parsers, copies and destructors of trees recurse once per level. Only pugixml does not: its trees are measured after
// parsing. YAML is counted by its events (yaml_tree.h), before each level.
#include "io/files/structured_text.h"

#include <toml++/toml.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>
#include <vector>

#include "io/files/file_name.h"
#include "io/files/json_tree.h"
#include "io/files/open_file.h"
#include "io/files/yaml_tree.h"
#include "libcore/base/plain_text.h"

namespace voxshard {
namespace {

using nlohmann::json;

constexpr const char* kSyntax = "E_SYNTAX";
constexpr const char* kLimit = "E_LIMIT";
constexpr std::size_t kMostReason = 300;  // bytes of a parser's message, which repeats its input

/// `at`: "" or ":12", the place in the file.
[[noreturn]] void refuse(const TextSource& source, const char* code, const std::string& at, const std::string& what) {
  const std::string place = source.path.empty() ? "" : source.tag + source.path.string() + at + ": ";
  throw Error(source.kind, code, place + what);
}

std::string line_of(std::string_view text, std::size_t at) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(at, text.size()));
  return ":" + std::to_string(1 + std::count(text.begin(), end, '\n'));
}

std::string too_deep(const TextSource& source) {
  return "is nested deeper than " + std::to_string(source.limits.depth) +
         " levels; check that it is the file that was meant";
}

/// Counts levels and values of a text and throws at the first beyond the limits.
class Bounds {
 public:
  Bounds(std::string_view text, const TextSource& source) : text_(text), source_(source) {
    if (static_cast<std::int64_t>(text.size()) > source.limits.bytes) beyond("", "has", source.limits.bytes, "bytes");
  }
  void depth(std::int64_t levels, std::size_t at) const {
    if (levels > source_.limits.depth) refuse(source_, kLimit, line_of(text_, at), too_deep(source_));
  }
  void value(std::size_t at) {
    if (++values_ > source_.limits.values) beyond(line_of(text_, at), "has", source_.limits.values, "values");
  }

 private:
  [[noreturn]] void beyond(const std::string& at, const char* how, std::int64_t limit, const char* unit) const {
    refuse(source_, kLimit, at,
           std::string(how) + " more than " + std::to_string(limit) + " " + unit +
               "; check that it is the file that was meant");
  }

  std::string_view text_;
  const TextSource& source_;
  std::int64_t values_ = 0;
};

/// Returns the position after the string that begins with the quote at `at`: after its closing quote, or the end of the
/// line or of the text.
std::size_t after_string(std::string_view text, std::size_t at, bool escapes) {
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != quote && text[at] != '\n'; ++at)
    if (escapes && text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

/// The same for a string that begins with three quotes.
std::size_t after_long_string(std::string_view text, std::size_t at, bool escapes) {
  const std::string_view quotes = text.substr(at, 3);
  for (at += 3; at < text.size() && text.substr(at, 3) != quotes; ++at)
    if (escapes && text[at] == '\\') ++at;
  at = std::min(at + 3, text.size());
  while (at < text.size() && text[at] == quotes[0]) ++at;  // up to two quotes may stand before the closing ones
  return at;
}

bool opens(char c) { return c == '[' || c == '{'; }
bool closes(char c) { return c == ']' || c == '}'; }

void bound_json(std::string_view text, const TextSource& source) {
  Bounds bounds(text, source);
  std::int64_t level = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = after_string(text, at, true);
      continue;
    }
    if (opens(c)) bounds.depth(++level, at);
    if (closes(c)) --level;
    if (opens(c) || c == ',') bounds.value(at);
    ++at;
  }
}

/// Checks TOML against the limits. A level is a bracket or a part of a dotted key: "a.b = {c.d = [1]}" has five.
void bound_toml(std::string_view text, const TextSource& source) {
  Bounds bounds(text, source);
  std::int64_t level = 0, parts = 0;    // levels that are open, without the dots of the last key; those dots
  std::vector<std::int64_t> enclosing;  // for each open bracket the levels outside of it
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '"' || c == '\'') {
      const bool is_long = text.substr(at, 3) == std::string(3, c);
      at = is_long ? after_long_string(text, at, c == '"') : after_string(text, at, c == '"');
      continue;
    }
    if (c == '.') bounds.depth(level + ++parts, at);
    if (c == ',' || c == '\n') bounds.value(at);
    if (c == ',' || (c == '\n' && enclosing.empty())) parts = 0;
    if (opens(c)) {
      bounds.value(at);
      enclosing.push_back(level);
      level += parts + 1;
      parts = 0;
      bounds.depth(level, at);
    }
    if (closes(c) && !enclosing.empty()) {
      level = enclosing.back();
      parts = 0;
      enclosing.pop_back();
    }
    ++at;
  }
}

/// Stops reading CBOR that is nested too deep, before the parser recurses once more.
class CborDepth : public nlohmann::json_sax<json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return ++level_ <= kDataLimits.depth; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return --level_ >= 0; }
  bool start_array(std::size_t) override { return ++level_ <= kDataLimits.depth; }
  bool end_array() override { return --level_ >= 0; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  int level_ = 0;
};

/// Returns the part of nlohmann's message after the position.
std::string reason_of(const json::exception& e) {
  const std::string what = e.what();
  const auto reason = what.rfind(": ");
  return shown_name(reason == std::string::npos ? what : what.substr(reason + 2), kMostReason);
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

bool is_deeper(const pugi::xml_node& node, int levels) {
  if (levels < 0) return true;
  for (const auto& child : node.children())
    if (child.type() == pugi::node_element && is_deeper(child, levels - 1)) return true;
  return false;
}

}  // namespace

std::string read_text(const TextSource& source) {
  InputFile in(source.path);
  if (!in)
    refuse(source, default_code(source.kind), "",
           in.problem() + "; give a regular file, and check the path and its permissions");
  std::string text, block(std::size_t{1} << 20, '\0');
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())), in.gcount() > 0) {
    text.append(block, 0, static_cast<std::size_t>(in.gcount()));
    if (static_cast<std::int64_t>(text.size()) > source.limits.bytes) Bounds(text, source);
  }
  if (in.bad()) refuse(source, default_code(source.kind), "", "cannot be read to its end; check the disk");
  return text;
}

std::string read_text_if_there(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error) ? read_text({.path = path, .limits = kConfigLimits}) : std::string();
}

json parse_json(std::string_view text, const TextSource& source, const std::string& left_out) {
  bound_json(text, source);
  try {
    JsonTree tree(left_out);
    json::sax_parse(text, &tree);
    return std::move(tree).value();
  } catch (const JsonNameTwice& twice) {
    refuse(source, kSyntax, "", "has the name \"" + shown_name(twice.name) + "\" twice in one object; keep one");
  } catch (const json::parse_error& e) {
    refuse(source, kSyntax, line_of(text, e.byte > 0 ? e.byte - 1 : 0), "is not valid JSON: " + reason_of(e));
  } catch (const json::exception& e) {  // a number that no double holds
    refuse(source, kSyntax, "", "is not valid JSON: " + reason_of(e));
  }
}

nlohmann::ordered_json unpack_cbor(std::string_view packed) {
  try {
    CborDepth depth;
    if (!json::sax_parse(packed, &depth, json::input_format_t::cbor))
      throw Error(ErrorKind::kInternal, "[ranks] a message between ranks is damaged: it is no CBOR of up to " +
                                            std::to_string(kDataLimits.depth) + " levels");
    return nlohmann::ordered_json::from_cbor(packed);
  } catch (const json::exception& e) {
    throw Error(ErrorKind::kInternal, std::string("[ranks] a message between ranks is damaged: ") + e.what());
  }
}

json parse_toml(std::string_view text, const TextSource& source) {
  bound_toml(text, source);
  try {
    return to_json(toml::parse(text, source.path.string()));
  } catch (const toml::parse_error& e) {
    const auto& at = e.source().begin;
    refuse(source, kSyntax, ":" + std::to_string(at.line) + ":" + std::to_string(at.column),
           "is not valid TOML: " + shown_name(e.description(), kMostReason));
  }
}

json parse_yaml(std::string_view text, const TextSource& source) {
  const Bounds bounds(text, source);
  std::size_t at = 0;
  for (std::size_t bytes = 1; at < text.size() && bytes > 0; at += bytes) bytes = character_bytes(text.substr(at));
  if (at < text.size()) refuse(source, kSyntax, line_of(text, at), "is no UTF-8");
  YamlTree tree(source.limits);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(tree)) {
    }
    return std::move(tree).value();
  } catch (const YamlProblem& problem) {
    refuse(source, problem.code, ":" + std::to_string(problem.line), problem.what);
  } catch (const YAML::Exception& e) {
    refuse(source, kSyntax,
           e.mark.is_null() ? "" : ":" + std::to_string(e.mark.line + 1) + ":" + std::to_string(e.mark.column + 1),
           "is not valid YAML: " + shown_name(e.msg, kMostReason));
  }
}

void parse_xml(pugi::xml_document& xml, std::string_view text, const TextSource& source) {
  Bounds bounds(text, source);
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) bounds.value(at);
  const pugi::xml_parse_result parsed = xml.load_buffer(text.data(), text.size());
  if (!parsed)
    refuse(source, kSyntax, "",
           std::string("is not valid XML: ") + parsed.description() + " at byte " + std::to_string(parsed.offset));
  if (is_deeper(xml, source.limits.depth)) refuse(source, kLimit, "", too_deep(source));
}

}  // namespace voxshard
