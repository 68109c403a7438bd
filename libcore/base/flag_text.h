// Messages of the libraries name an option by its field: "{fold} is 9". Where they are shown or listed, it is replaced
// by the option as typed.
//
//   with_flags("choose another with {output}")   // "choose another with -o"
#pragma once

#include <string>
#include <string_view>

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

}  // namespace voxshard
