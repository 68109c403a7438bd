// Words of settings: the parts of a value that is a list, and the names of a table's rows as choices.
//
//   split_words("dice,hd95", ',')       // {"dice", "hd95"}
//   row_names(empty_rules())            // {"nan", "one", "inf"}
#pragma once

#include <string>
#include <vector>

namespace voxshard {

/// Returns the parts between the separators, empty ones included; one empty part for an empty text.
inline std::vector<std::string> split_words(const std::string& text, char separator) {
  std::vector<std::string> words = {""};
  for (const char letter : text) {
    if (letter == separator)
      words.emplace_back();
    else
      words.back() += letter;
  }
  return words;
}

/// Returns the member `name` of each row.
template <class Rows>
std::vector<std::string> row_names(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

}  // namespace voxshard
