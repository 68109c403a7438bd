// The page of help that --help prints: what a command does, a line for each of its main options, and the names of the
// others by group. --help-all says what each one means, with its range and default.
//
//   short_help(*command, "voxshard");
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace voxshard {

/// Returns the names {"-o", "--output"} of an option, or {"WORK"} of a positional argument.
std::vector<std::string> option_names(const CLI::Option& option);

/// Appends words to `line` and begins a new one, indented as far as `line` is now, where they would go beyond `width`.
std::string wrapped(std::string line, const std::string& words, std::size_t width);

std::string short_help(const CLI::App& command, const std::string& program);

}  // namespace voxshard
