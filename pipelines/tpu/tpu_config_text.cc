#include "pipelines/tpu/tpu_config_text.h"

#include <cctype>
#include <charconv>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

using nlohmann::json;

constexpr std::string_view kBrackets = "[](){}";

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' || c == '+';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  json whole() {
    json value = read();
    skip_spaces();
    if (at_ < text_.size()) fail(std::string("\"") + text_[at_] + "\" follows a value that is complete");
    return value;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    std::string text = what;
    constexpr std::size_t kShown = 200;
    text.append(" at character ").append(std::to_string(at_ + 1)).append(" of \"").append(text_.substr(0, kShown));
    text.append(text_.size() > kShown ? "...\"" : "\"");
    throw Error(ErrorKind::kConfig, text);
  }

  void skip_spaces() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }

  /// Returns the next character that is not a space; 0 at the end.
  char peek() {
    skip_spaces();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  json read() {
    const char c = peek();
    if (c == '[') return list(']');
    if (c == '(') return list(')');
    if (c == '{') return dictionary();
    if (c == '\'' || c == '"') return quoted();
    if (c == '\0') fail("a value is missing");
    if (!is_word(c)) fail(std::string("\"") + c + "\" does not begin a value");
    return word();
  }

  void open() {
    ++at_;
    if (++depth_ > 32) fail("more than 32 levels of brackets");
  }

  /// Skips the comma or the closing bracket after an entry; returns true for the bracket.
  bool closes(char close) {
    const char c = peek();
    if (c != ',' && c != close)
      fail(c == '\0' ? std::string("the closing \"") + close + "\" is missing"
                     : std::string("expected a comma or \"") + close + "\", got \"" + c + "\"");
    ++at_;
    if (c == close) --depth_;
    return c == close;
  }

  bool closes_at_once(char close) {
    if (peek() != close) return false;
    ++at_;
    --depth_;
    return true;
  }

  json list(char close) {
    open();
    json values = json::array();
    while (!closes_at_once(close)) {
      values.push_back(read());
      if (closes(close)) break;
    }
    return values;
  }

  json dictionary() {
    open();
    json values = json::object();
    while (!closes_at_once('}')) {
      const json key = peek() == '\'' || peek() == '"' ? quoted() : is_word(peek()) ? json(bare()) : json();
      if (!key.is_string()) fail("expected a key");
      if (values.contains(key.get<std::string>())) fail("the key \"" + key.get<std::string>() + "\" is given twice,");
      if (peek() != ':') fail("expected \":\" after the key \"" + key.get<std::string>() + "\"");
      ++at_;
      values[key.get<std::string>()] = read();
      if (closes('}')) break;
    }
    return values;
  }

  json quoted() {
    const char quote = text_[at_];
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("the closing quote is missing of the text that begins");
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return std::string(inside);
  }

  std::string bare() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  json word() {
    const std::string text = bare();
    if (text == "None" || text == "null") return nullptr;
    if (text == "True" || text == "true") return true;
    if (text == "False" || text == "false") return false;
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && stop == text.data() + text.size()) return number;
    return text;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

bool is_utf8(std::string_view text) {
  try {
    return !json(std::string(text)).dump().empty();
  } catch (const json::type_error&) {  // 316: invalid UTF-8
    return false;
  }
}

std::optional<json> read_or_nothing(const std::string& text) {
  try {
    return value_from_text(text);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

json value_from_text(std::string_view text) {
  if (!is_utf8(text)) throw Error(ErrorKind::kConfig, "the text is not UTF-8");
  const bool bare_list =
      text.find_first_of(kBrackets) == std::string_view::npos && text.find(',') != std::string_view::npos;
  if (!bare_list) return Reader(text).whole();
  const std::string with_brackets = "[" + std::string(text) + "]";
  return Reader(with_brackets).whole();
}

std::optional<std::string> mended(const std::string& text, const std::function<bool(const json&)>& accepts) {
  constexpr std::size_t kLongest = 1000;  // the search takes time in the square of the length
  if (text.size() > kLongest) return std::nullopt;
  const auto good = [&](const std::string& candidate) {
    const auto value = read_or_nothing(candidate);
    return value.has_value() && accepts(*value);
  };
  for (std::string shorter = text; !shorter.empty() && kBrackets.find(shorter.back()) != std::string_view::npos;) {
    shorter.pop_back();
    if (good(shorter)) return shorter;
  }
  for (std::size_t at = text.size() + 1; at-- > 0;)
    for (char bracket : kBrackets) {
      std::string with = text;
      with.insert(at, 1, bracket);
      if (good(with)) return with;
    }
  for (std::size_t at = text.size(); at-- > 0;) {
    if (kBrackets.find(text[at]) == std::string_view::npos) continue;
    std::string without = text;
    without.erase(at, 1);
    if (good(without)) return without;
  }
  return std::nullopt;
}

std::string shown(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string to_text(const json& value, TextStyle style) {
  const bool toml = style == TextStyle::kToml;
  if (value.is_null()) return style == TextStyle::kPython ? "None" : toml ? "\"None\"" : "null";
  if (value.is_boolean() && style == TextStyle::kPython) return value.get<bool>() ? "True" : "False";
  if (!value.is_structured()) return shown(value);
  std::string text;
  for (const auto& [key, entry] : value.items()) {
    if (!text.empty()) text += ", ";
    if (value.is_object()) text += shown(key) + (toml ? " = " : ": ");
    text += to_text(entry, style);
  }
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

}  // namespace voxshard
