#include "pipelines/tasks/sided_classes.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace voxshard {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// A lower-case name with left for right: "kidney_l" -> "kidney_r". The same name when it has no left.
std::string on_the_right(std::string name) {
  for (std::size_t at = name.find("left"); at != std::string::npos; at = name.find("left", at + 5))
    name.replace(at, 4, "right");
  for (std::size_t i = 0; i < name.size(); ++i)
    if (name[i] == 'l' && (i == 0 || !is_letter(name[i - 1])) && (i + 1 == name.size() || !is_letter(name[i + 1])))
      name[i] = 'r';
  return name;
}

}  // namespace

std::optional<std::pair<std::string, std::string>> sided_classes(const std::vector<std::string>& names) {
  std::map<std::string, std::string> by_lower;
  for (const std::string& name : names) by_lower.emplace(lower(name), name);
  for (const std::string& name : names) {
    const std::string right = on_the_right(lower(name));
    if (const auto other = by_lower.find(right); right != lower(name) && other != by_lower.end())
      return std::pair(name, other->second);
  }
  return std::nullopt;
}

std::vector<std::string> mirror_warnings(const std::vector<std::string>& names, const std::string& option) {
  const auto sides = sided_classes(names);
  if (!sides) return {};
  return {"W_MIRROR " + option + " swaps left and right, and \"" + sides->first + "\" and \"" + sides->second +
          "\" are classes: what is mirrored teaches the wrong one; train without it"};
}

}  // namespace voxshard
