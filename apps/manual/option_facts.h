// The facts that CLI11 has about an option, in the parts that manual pages and completions are made of.
//
//   option_facts(*command->get_option("--to"));   // {.names = {"--to"}, .type = "TEXT", .choices = {"folder", ...}}
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace voxshard {

struct OptionFacts {
  std::vector<std::string> names;     // {"-o", "--output"}, or {"WORK"} of a positional argument
  std::string type;                   // of its value: "INT", "PATH"; empty for a flag
  std::vector<std::string> choices;   // the only words that it takes; empty: others too
  std::string range;                  // of a number: "0 to 9"; may be empty
  std::string usual;                  // its default as text; may be empty
  std::vector<std::string> excludes;  // names of options that it does not go with

  bool is_flag() const { return type.empty(); }
  bool is_number() const { return type == "INT" || type == "UINT" || type == "FLOAT"; }
};

OptionFacts option_facts(const CLI::Option& option);

/// A heading of the help and its options, in their order.
struct OptionGroup {
  std::string name;
  std::vector<const CLI::Option*> options;
};

/// Returns the options of a command by group. Positional arguments are no part of it.
std::vector<OptionGroup> option_groups(const CLI::App& command);

std::vector<const CLI::Option*> positionals_of(const CLI::App& command);

std::vector<const CLI::App*> commands_of(const CLI::App& root);

}  // namespace voxshard
