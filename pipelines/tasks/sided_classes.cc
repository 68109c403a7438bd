#include "pipelines/tasks/sided_classes.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "libcore/base/text.h"

namespace voxshard {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }

/// Words for left and right: English with its short forms, German, French, Spanish, Italian, Latin. A short form of one
/// or two letters must be a separate word, or the capital at the end of a name such as kidneyL.
constexpr std::pair<std::string_view, std::string_view> kSides[] = {
    {"left", "right"},    {"linke", "rechte"},    {"links", "rechts"},
    {"gauche", "droite"}, {"gauche", "droit"},    {"izquierd", "derech"},
    {"sinistr", "destr"}, {"sinister", "dexter"}, {"sinistra", "dextra"},
    {"lft", "rgt"},       {"lt", "rt"},           {"li", "re"},
    {"l", "r"},
};
constexpr std::size_t kShort = 3;

/// Returns the name in lower case, with a blank where a word begins inside it: "kidneyL" -> "kidney l".
std::string spaced_words(const std::string& name) {
  std::string words;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (i > 0 && is_lower(name[i - 1]) && is_upper(name[i])) words += ' ';
    words += name[i];
  }
  return lower_case(words);
}

bool stands_alone(const std::string& name, std::size_t at, std::size_t length) {
  return (at == 0 || !is_letter(name[at - 1])) && (at + length == name.size() || !is_letter(name[at + length]));
}

/// Returns `name` (from spaced_words) with every `left` replaced by `right`.
std::string on_the_right(std::string name, std::string_view left, std::string_view right) {
  for (std::size_t at = name.find(left); at != std::string::npos; at = name.find(left, at)) {
    const bool is_side = left.size() > kShort || stands_alone(name, at, left.size());
    if (is_side) name.replace(at, left.size(), right);
    at += is_side ? right.size() : 1;
  }
  return name;
}

/// Endings of a word for a side, in languages where it agrees with its noun.
constexpr std::string_view kEndings[] = {"", "o", "a", "e", "i", "os", "as", "n", "r", "s"};

/// True where a word of `name` (from spaced_words) is one for left or right that is no short form.
bool says_side(const std::string& name) {
  const auto is_whole = [&](std::size_t at, std::size_t length) {
    return std::ranges::any_of(kEndings, [&](std::string_view ending) {
      return name.compare(at + length, ending.size(), ending) == 0 && stands_alone(name, at, length + ending.size());
    });
  };
  const auto has = [&](std::string_view word) {
    if (word.size() <= kShort) return false;
    for (std::size_t at = name.find(word); at != std::string::npos; at = name.find(word, at + 1))
      if (is_whole(at, word.size())) return true;
    return false;
  };
  return std::ranges::any_of(kSides, [&](const auto& sides) { return has(sides.first) || has(sides.second); });
}

}  // namespace

std::optional<std::pair<std::string, std::string>> sided_classes(const std::vector<std::string>& names) {
  std::map<std::string, std::string> by_words;
  for (const std::string& name : names) by_words.emplace(spaced_words(name), name);
  for (const std::string& name : names)
    for (const auto& [left, right] : kSides) {
      const std::string words = spaced_words(name), other_side = on_the_right(words, left, right);
      if (const auto other = by_words.find(other_side); other_side != words && other != by_words.end())
        return std::pair(name, other->second);
    }
  return std::nullopt;
}

std::vector<SidePair> side_pairs(const std::vector<std::string>& names) {
  std::vector<SidePair> pairs;
  if (names.empty()) return pairs;
  std::vector<std::string> rest(names.begin() + 1, names.end());
  const auto number_of = [&](const std::string& name) {
    return static_cast<int>(std::find(names.begin() + 1, names.end(), name) - names.begin());
  };
  while (const auto sides = sided_classes(rest)) {
    pairs.push_back({number_of(sides->first), number_of(sides->second)});
    std::erase(rest, sides->first), std::erase(rest, sides->second);
  }
  return pairs;
}

std::optional<std::string> one_sided_class(const std::vector<std::string>& names) {
  std::vector<std::string> rest = names;
  while (const auto sides = sided_classes(rest)) std::erase(rest, sides->first), std::erase(rest, sides->second);
  const auto found = std::ranges::find_if(rest, [](const std::string& name) { return says_side(spaced_words(name)); });
  return found == rest.end() ? std::nullopt : std::optional(*found);
}

std::vector<std::string> mirror_warnings(const std::vector<std::string>& names,
                                         const std::vector<std::string>& settings) {
  const auto sides = sided_classes(names);
  return sides ? mirror_warnings_of(sides->first, sides->second, settings) : one_sided_warnings(names, settings);
}

std::vector<std::string> mirror_warnings_of(const std::string& left, const std::string& right,
                                            const std::vector<std::string>& settings) {
  std::vector<std::string> warnings;
  for (const std::string& setting : settings)
    warnings.push_back("W_MIRROR " + setting + " swaps left and right, and \"" + left + "\" and \"" + right +
                       "\" are classes: what is mirrored teaches the wrong one; train without it");
  return warnings;
}

std::vector<std::string> one_sided_warnings(const std::vector<std::string>& names,
                                            const std::vector<std::string>& settings) {
  std::vector<std::string> warnings;
  if (const auto name = one_sided_class(names))
    for (const std::string& setting : settings)
      warnings.push_back("W_MIRROR " + setting + " swaps left and right, and \"" + *name +
                         "\" is a class of one side: what is mirrored shows it on the other one; train without it");
  return warnings;
}

}  // namespace voxshard
