// The options that messages and suggested commands name (libcore/base/flag_text.h), as they are typed.
#pragma once

#include <string>
#include <vector>

#include "libcore/base/flag_text.h"

namespace voxshard {

/// Returns the words of a command with options as typed; only words that consist of {name} alone change, since others
/// may be file names.
inline std::vector<std::string> with_flags(std::vector<std::string> words) {
  for (std::string& word : words)
    if (word.starts_with('{') && word.ends_with('}')) word = with_flags(std::string_view(word));
  return words;
}

}  // namespace voxshard
