// What was probably meant by a word of the command line that nobody knows.
//
//   typo_text({"trian", "work", "-o", "run"}, root);     // "there is no subcommand trian; did you mean train?"
//   typo_text({"train", "work", "--stps=5"}, root);      // "train has no option --stps; did you mean --steps?"
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace voxshard {

/// Of the first subcommand or long option that does not exist; nothing when all do. `words` are those that were typed.
std::optional<std::string> typo_text(const std::vector<std::string>& words, const CLI::App& root);

}  // namespace voxshard
