// A command line as it is typed: what is suggested to go on with can be pasted into a shell, whatever the names of
// files.
//
//   shell_line({"prepare", "my data", "-o", "work"});   // prepare 'my data' -o work
#pragma once

#include <string>
#include <vector>

namespace voxshard {

/// The words with blanks between them, quoted where a POSIX shell would read anything else into them.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace voxshard
