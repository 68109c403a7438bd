#include "io/datasets/study_rules.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "io/datasets/name_pattern.h"
#include "io/files/config_file.h"
#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// A table of the file, and what errors in it say.
class RuleTable {
 public:
  RuleTable(const nlohmann::json& table, std::string name, const fs::path& path)
      : table_(table), name_(std::move(name)), path_(path) {
    if (!table.is_object()) throw wrong("", "is no table", "write [" + name_ + "] and its keys below");
  }

  Error wrong(const std::string& key, const std::string& what, const std::string& action) const {
    return Error(ErrorKind::kConfig, "[config] " + path_.string() + ": " + name_ + (key.empty() ? "" : "." + key) +
                                         " " + what + "; " + action);
  }

  void require_known(const std::vector<std::string>& keys) const {
    for (const auto& [key, value] : table_.items())
      if (std::ranges::find(keys, key) == keys.end())
        throw wrong(shown(key), "is an unknown key", "expected " + joined(keys, ", "));
  }

  bool has(const std::string& key) const { return table_.contains(key); }

  /// Returns a text of 1 to kMostRuleWordBytes bytes without control characters.
  std::string text(const std::string& key) const { return text_of(key, table_.at(key)); }

  std::vector<std::string> texts(const std::string& key) const {
    std::vector<std::string> all;
    if (!has(key)) return all;
    const nlohmann::json& list = table_.at(key);
    if (!list.is_array() || list.empty() || list.size() > kMostRuleWords)
      throw wrong(key, "is no list of 1 to " + std::to_string(kMostRuleWords) + " texts",
                  "write " + key + R"( = ["...", "..."], or leave it out)");
    for (const nlohmann::json& one : list) all.push_back(text_of(key, one));
    return all;
  }

  double number(const std::string& key, double least, double most, bool is_whole) const {
    return number_of(key, table_.at(key), least, most, is_whole);
  }
  int port(const std::string& key) const { return static_cast<int>(number(key, 1, 65535, true)); }

  /// Returns the least and the most of what a rule allows.
  std::optional<std::array<double, 2>> range(const std::string& key, double least, double most, bool is_whole) const {
    if (!has(key)) return std::nullopt;
    const nlohmann::json& ends = table_.at(key);
    if (!ends.is_array() || ends.size() != 2)
      throw wrong(key, "is no pair of numbers", "write " + key + " = [least, most]");
    const std::array found{number_of(key, ends[0], least, most, is_whole),
                           number_of(key, ends[1], least, most, is_whole)};
    if (found[0] > found[1]) throw wrong(key, "has its least above its most", "write " + key + " = [least, most]");
    return found;
  }

  std::string aetitle(const std::string& key) const {
    const std::string title = text(key);
    const bool valid = title.size() <= 16 && title.front() != ' ' && title.back() != ' ' &&
                       std::ranges::all_of(title, [](char c) { return c >= ' ' && c <= '~' && c != '\\'; });
    if (!valid)
      throw wrong(key, "is no AE title",
                  "expected 1 to 16 printable ASCII characters, no backslash, no blank at either end");
    return title;
  }

  std::string host(const std::string& key) const {
    const std::string name = text(key);
    const auto begins = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ':';
    };
    const bool valid =
        begins(name.front()) && std::ranges::all_of(name, [&](char c) { return begins(c) || c == '.' || c == '-'; });
    if (!valid)
      throw wrong(key, "is no name or address of a host",
                  "expected letters, digits, ':', '.' and '-'; the last two not first");
    return name;
  }

 private:
  static std::string shown(const std::string& key) { return plain_text(key).substr(0, kMostRuleWordBytes); }

  std::string text_of(const std::string& key, const nlohmann::json& value) const {
    const auto* text = value.get_ptr<const std::string*>();
    if (text == nullptr || text->empty() || text->size() > kMostRuleWordBytes ||
        find_steering(*text) != std::string::npos)
      throw wrong(key, "holds no plain text of 1 to " + std::to_string(kMostRuleWordBytes) + " bytes", "mend it");
    return *text;
  }

  double number_of(const std::string& key, const nlohmann::json& value, double least, double most,
                   bool is_whole) const {
    const double number = value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
    if (!(number >= least && number <= most) || (is_whole && !value.is_number_integer()))
      throw wrong(key,
                  std::string("holds no ") + (is_whole ? "whole " : "") + "number of " + number_text(least) + " to " +
                      number_text(most),
                  is_whole ? "write digits alone" : "mend it");
    return number;
  }

  /// The bounds of numbers here are whole.
  static std::string number_text(double bound) { return std::to_string(static_cast<std::int64_t>(bound)); }

  const nlohmann::json& table_;
  std::string name_;
  const fs::path& path_;
};

SeriesRules series_rules_in(const RuleTable& table) {
  table.require_known({"modality", "body_part", "missing_body_part", "slices", "thickness", "kernel"});
  SeriesRules rules{.modality = table.texts("modality"), .body_part = table.texts("body_part")};
  if (table.has("missing_body_part")) {
    const std::string word = table.text("missing_body_part");
    if (word != "take" && word != "leave")
      throw table.wrong("missing_body_part", "is neither \"take\" nor \"leave\"", "write one of them");
    rules.takes_missing_body_part = word == "take";
  }
  if (const auto slices = table.range("slices", 1, 1e6, true))
    rules.slices = {static_cast<std::int64_t>((*slices)[0]), static_cast<std::int64_t>((*slices)[1])};
  rules.thickness_mm = table.range("thickness", 0, 1000, false);
  rules.kernel = table.texts("kernel");
  return rules;
}

ReceiveRules receive_rules_in(const RuleTable& table) {
  constexpr double kMostDays = 36500;
  table.require_known({"aetitle", "port", "keep_days"});
  ReceiveRules rules;
  if (table.has("aetitle")) rules.aetitle = table.aetitle("aetitle");
  if (table.has("port")) rules.port = table.port("port");
  if (table.has("keep_days")) rules.keep_days = table.number("keep_days", 0, kMostDays, false);
  return rules;
}

SendRules send_rules_in(const RuleTable& table) {
  table.require_known({"aetitle", "host", "port"});
  for (const char* key : {"aetitle", "host", "port"})
    if (!table.has(key)) throw table.wrong(key, "is missing", "[send] needs aetitle, host and port");
  return {.aetitle = table.aetitle("aetitle"), .host = table.host("host"), .port = table.port("port")};
}

bool fits_one(const std::vector<std::string>& patterns, const std::string& value) {
  const std::u32string name = comparable_name(value);
  return std::ranges::any_of(
      patterns, [&](const std::string& pattern) { return matches_pattern(comparable_name(pattern), name); });
}

bool fits_body_part(const SeriesRules& rules, const std::string& part) {
  if (rules.body_part.empty()) return true;
  return comparable_name(part).empty() ? rules.takes_missing_body_part : fits_one(rules.body_part, part);
}

/// True for a distance in a range; both are rounded to hundredths of a mm, by which positions differ.
bool fits_thickness(const std::array<double, 2>& range, double thickness_mm) {
  const auto rounded = [](double mm) { return std::llround(std::clamp(mm, 0.0, 1e6) * 100); };
  return rounded(thickness_mm) >= rounded(range[0]) && rounded(thickness_mm) <= rounded(range[1]);
}

}  // namespace

StudyRules read_study_rules(const fs::path& path) {
  const nlohmann::json file = read_config(path);
  if (!file.is_object())
    throw Error(ErrorKind::kConfig,
                "[config] " + path.string() + ": holds no rules; expected the tables studies, receive and send");
  StudyRules rules;
  for (const auto& [name, table] : file.items()) {
    if (name == "studies")
      rules.series = series_rules_in({table, name, path});
    else if (name == "receive")
      rules.receive = receive_rules_in({table, name, path});
    else if (name == "send")
      rules.send = send_rules_in({table, name, path});
    else
      throw Error(ErrorKind::kConfig, "[config] " + path.string() + ": has the unknown table or key \"" +
                                          plain_text(name).substr(0, kMostRuleWordBytes) +
                                          "\"; expected studies, receive and send");
  }
  return rules;
}

std::string broken_rule(const SeriesRules& rules, const DicomSeries& series) {
  const DicomHeader& header = series.common;
  const auto count = std::ssize(series.slices);
  const auto is_modality = [&](const std::string& one) { return lower_case(one) == lower_case(header.modality); };
  if (!rules.modality.empty() && std::ranges::none_of(rules.modality, is_modality)) return "modality";
  if (!fits_body_part(rules, header.body_part)) return "body_part";
  if (rules.slices && (count < (*rules.slices)[0] || count > (*rules.slices)[1])) return "slices";
  if (rules.thickness_mm && !fits_thickness(*rules.thickness_mm, series.grid.spacing[2])) return "thickness";
  if (!rules.kernel.empty() && !fits_one(rules.kernel, header.kernel.substr(0, header.kernel.find('\\'))))
    return "kernel";
  return {};
}

}  // namespace voxshard
