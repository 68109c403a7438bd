// A completion for bash: commands, the options of each, the choices of those that have choices, else names of files.
//
//   bash_completion(root, {.version = "0.2.0", .arguments = {{"help", {"options", "codes"}}}});
#pragma once

#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace voxshard {

struct CompletionFacts {
  std::string version;
  std::map<std::string, std::vector<std::string>> arguments;  // words that a command takes, beside the parser's choices
};

/// Returns the script, which bash reads with `source`. Its function is _NAME of the program's name.
/// Errors: kInternal for a word that bash would change.
std::string bash_completion(const CLI::App& root, const CompletionFacts& facts);

}  // namespace voxshard
