// Messages of the libraries name an option by its field: "{fold} is 9". Here it is replaced by the option as typed.
//
//   with_flags("choose another with {output}")   // "choose another with -o"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace voxshard {

/// Returns `text` with {name} replaced by --name, and {output} by -o. Braces around anything else stay.
inline std::string with_flags(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz-";
  std::string out;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    out += text.substr(0, open);
    if (open == std::string_view::npos) break;
    text.remove_prefix(open + 1);
    const std::size_t end = text.find_first_not_of(kLetters);
    if (end == 0 || end == std::string_view::npos || text[end] != '}') {
      out += '{';
      continue;
    }
    const std::string_view name = text.substr(0, end);
    out += name == "output" ? "-o" : "--" + std::string(name);
    text.remove_prefix(end + 1);
  }
  return out;
}

/// The same for the words of a command; only words that consist of {name} alone change, since others may be file names.
inline std::vector<std::string> with_flags(std::vector<std::string> words) {
  for (std::string& word : words)
    if (word.starts_with('{') && word.ends_with('}')) word = with_flags(std::string_view(word));
  return words;
}

}  // namespace voxshard
