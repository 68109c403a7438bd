// Quotes a command line as it would be typed: a suggested command can be pasted into a shell, whatever its file names.
//
//   shell_line({"prepare", "my data", "-o", "work"});   // prepare 'my data' -o work
#pragma once

#include <string>
#include <vector>

namespace voxshard {

/// Returns the words separated by blanks, quoted where a POSIX shell would otherwise interpret them.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace voxshard
