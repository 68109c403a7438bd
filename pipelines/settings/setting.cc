#include "pipelines/settings/setting.h"

#include <algorithm>
#include <cstdlib>

#include "libcore/base/spelling.h"
#include "libcore/base/text.h"
#include "pipelines/model_runs/model_spec.h"

namespace voxshard {
namespace {

using Words = std::vector<std::string>;

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;  // clang 14, of the fuzzers, does not deduce it

/// Parses a whole number in C syntax, such as 0x10.
template <class Number, auto read>
std::optional<Number> whole_number(const std::string& word) {
  char* end = nullptr;
  const auto number = read(word.c_str(), &end, 0);
  if (word.empty() || end != word.c_str() + word.size()) return std::nullopt;
  return static_cast<Number>(number);
}

std::optional<std::int64_t> integer(const std::string& word) { return whole_number<std::int64_t, std::strtoll>(word); }

std::optional<double> real(const std::string& word) {
  char* end = nullptr;
  const long double number = std::strtold(word.c_str(), &end);
  if (word.empty() || end != word.c_str() + word.size()) return std::nullopt;
  return static_cast<double>(number);
}

std::optional<bool> truth(const std::string& word) {
  const std::string lower = lower_case(word);
  if (std::ranges::count(Words{"true", "on", "yes", "enable", "t", "y", "+"}, lower) > 0) return true;
  if (std::ranges::count(Words{"false", "off", "no", "disable", "f", "n", "-"}, lower) > 0) return false;
  const auto number = integer(word);
  return number ? std::optional(*number > 0) : std::nullopt;
}

/// Splits words at commas: "10,20" becomes two.
Words split(const Words& words) {
  Words parts;
  for (const std::string& word : words)
    for (std::size_t begin = 0; begin <= word.size();) {
      const std::size_t end = std::min(word.find(',', begin), word.size());
      parts.push_back(word.substr(begin, end - begin));
      begin = end + 1;
    }
  return parts;
}

template <class Number, class Read>
std::optional<SettingValue> list_of(const Words& words, Read read) {
  std::vector<Number> numbers;
  for (const std::string& word : split(words))
    if (const auto number = read(word))
      numbers.push_back(*number);
    else
      return std::nullopt;
  return numbers;
}

template <class Number>
std::optional<SettingValue> one(const std::optional<Number>& value) {
  return value ? std::optional<SettingValue>(*value) : std::nullopt;
}

/// Formats a number with six digits, as streams do.
std::string short_text(double number) { return joined_text(&number, 1, 6); }

std::vector<double> numbers_in(const SettingValue& value) {
  return std::visit(
      Overloaded{[](const std::vector<std::int64_t>& list) { return std::vector<double>(list.begin(), list.end()); },
                 [](const std::vector<double>& list) { return list; },
                 [](const std::string&) { return std::vector<double>(); },
                 [](auto number) { return std::vector<double>{static_cast<double>(number)}; }},
      value);
}

}  // namespace

std::string value_text(const SettingValue& value) {
  return std::visit(
      Overloaded{[](bool flag) -> std::string { return flag ? "true" : "false"; },
                 [](const std::string& text) { return text; }, [](double number) { return number_text(number); },
                 [](const std::vector<double>& list) { return joined(list, ",", number_text); },
                 [](const std::vector<std::int64_t>& list) {
                   return joined(list, ",", [](std::int64_t number) { return std::to_string(number); });
                 },
                 [](auto number) { return std::to_string(number); }},
      value);
}

SettingValue example_of(const Setting& row) {
  return std::visit(Overloaded{[](double*) -> SettingValue { return 0.0; },
                               [](std::int64_t*) -> SettingValue { return std::int64_t{0}; },
                               [](std::optional<std::int64_t>*) -> SettingValue { return std::int64_t{0}; },
                               [](std::array<double, 2>*) -> SettingValue { return std::vector<double>(); },
                               [](bool*) -> SettingValue { return false; },
                               [](std::uint64_t*) -> SettingValue { return std::uint64_t{0}; },
                               [](std::vector<std::int64_t>*) -> SettingValue { return std::vector<std::int64_t>(); },
                               [](const Setting::Access& access) { return access.get(); },
                               [](const auto&) -> SettingValue { return std::string(); }},
                    row.value);
}

std::optional<SettingValue> value_of(const Setting& row) {
  using Found = std::optional<SettingValue>;
  return std::visit(
      Overloaded{[](std::filesystem::path* path) -> Found { return path->string(); },
                 [](std::optional<std::int64_t>* number) -> Found { return one(*number); },
                 [](std::array<double, 2>* pair) -> Found { return std::vector<double>(pair->begin(), pair->end()); },
                 [](const Setting::FromText&) -> Found { return std::nullopt; },
                 [](const Setting::Access& access) -> Found { return access.get(); },
                 [](auto* value) -> Found { return *value; }},
      row.value);
}

std::optional<SettingValue> parsed(const Setting& row, const Words& words) {
  using Found = std::optional<SettingValue>;
  const std::size_t most = std::holds_alternative<std::array<double, 2>*>(row.value) ? 2 : 1;
  const SettingValue example = example_of(row);
  if (std::holds_alternative<std::vector<std::int64_t>>(example)) return list_of<std::int64_t>(words, integer);
  if (std::holds_alternative<std::vector<double>>(example)) {
    auto list = list_of<double>(words, real);
    return list && std::get<std::vector<double>>(*list).size() == most ? list : std::nullopt;
  }
  if (words.size() != 1) return std::nullopt;
  return std::visit(
      Overloaded{[&](const std::string&) -> Found { return words.front(); },
                 [&](bool) -> Found { return one(truth(words.front())); },
                 [&](std::int64_t) -> Found { return one(integer(words.front())); },
                 [&](std::uint64_t) -> Found { return one(whole_number<std::uint64_t, std::strtoull>(words.front())); },
                 [&](double) -> Found { return one(real(words.front())); },
                 [](const auto&) -> Found { return std::nullopt; }},
      example);
}

std::optional<SettingValue> converted(const Setting& row, const SettingValue& value) {
  const SettingValue example = example_of(row);
  if (value.index() == example.index()) return value;
  if (const auto* text = std::get_if<std::string>(&value)) return parsed(row, {*text});
  if (std::holds_alternative<std::string>(example)) return value_text(value);
  const auto* whole = std::get_if<std::int64_t>(&value);
  if (whole != nullptr && std::holds_alternative<double>(example)) return static_cast<double>(*whole);
  if (whole != nullptr && std::holds_alternative<std::uint64_t>(example)) return static_cast<std::uint64_t>(*whole);
  return std::nullopt;
}

void set_value(const Setting& row, const SettingValue& value) {
  std::visit(
      Overloaded{
          [&](std::filesystem::path* path) { *path = std::get<std::string>(value); },
          [&](std::optional<std::int64_t>* number) { *number = std::get<std::int64_t>(value); },
          [&](std::array<double, 2>* pair) { std::ranges::copy(std::get<std::vector<double>>(value), pair->begin()); },
          [&](const Setting::FromText& set) { set(std::get<std::string>(value)); },
          [&](const Setting::Access& access) { access.set(value); }, [&]<class T>(T* to) { *to = std::get<T>(value); }},
      row.value);
}

std::string range_problem(const NumberRange& range, const std::string& word) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (end == word.c_str() || *end != '\0' || range.holds(value)) return {};
  return word + " is not in " + to_text(range);
}

std::string choices_text(const Words& choices) { return "{" + joined(choices, ",") + "}"; }

std::string choice_problem(const Words& choices, const std::string& word) {
  if (std::ranges::count(choices, word) > 0) return {};
  const auto likely = likely_name(word, choices);
  return word + " not in " + choices_text(choices) + (likely ? "; did you mean " + *likely + "?" : "");
}

std::string problem(const Setting& row, const std::string& word) {
  if (row.range)
    if (const std::string text = range_problem(*row.range, word); !text.empty()) return text;
  return row.choices.empty() ? std::string() : choice_problem(row.choices, word);
}

std::string default_text(const Setting& row) {
  if (!row.usual.empty()) return row.usual;
  if (!row.tells_default || std::holds_alternative<bool*>(row.value)) return {};
  const auto value = value_of(row);
  if (!value) return {};
  if (const auto* number = std::get_if<double>(&*value)) return short_text(*number);
  if (const auto* list = std::get_if<std::vector<double>>(&*value)) return joined(*list, ",", short_text);
  return value_text(*value);
}

void require_in_range(const std::vector<Setting>& settings) {
  for (const Setting& setting : settings)
    if (const auto value = value_of(setting); value && setting.range)
      for (const double number : numbers_in(*value)) require_in_range(setting.name, number, *setting.range);
}

Dims crop_from_text(const std::string& text, int axes) {
  Dims crop;
  if (text == "whole") return crop;
  const Shape extents = extents_from_text(text, axes, 1);
  for (int a = 1; a <= axes; ++a) crop.push_back(extents[a]);
  return crop;
}

}  // namespace voxshard
