// Suggests the intended subcommand or option for an unknown word of the command line.
//
//   typo_text({"trian", "work", "-o", "run"}, root);     // "there is no subcommand trian; did you mean train?"
//   typo_text({"train", "work", "--stps=5"}, root);      // "train has no option --stps; did you mean --steps?"
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace voxshard {

/// Returns the message for the first subcommand or long option that does not exist; nullopt when all exist. `words`: as
/// typed.
std::optional<std::string> typo_text(const std::vector<std::string>& words, const CLI::App& root);

/// Returns the message of a refused command line; where something is missing that the chosen subcommand requires, with
/// the first example of its help: "folder is required, as in: voxshard demo data".
std::string refusal_text(const CLI::ParseError& refusal, const CLI::App& root);

}  // namespace voxshard
