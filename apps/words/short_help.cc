#include "apps/words/short_help.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <sstream>

namespace voxshard {
namespace {

constexpr std::size_t kWidth = 100, kNames = 24;

/// Returns what stands before the first full stop, semicolon or bracket of a help text, on one line.
std::string first_clause(const std::string& help) {
  std::size_t end = help.size();
  for (const char* mark : {". ", "; ", " ("}) end = std::min(end, help.find(mark));
  std::string clause = help.substr(0, end);
  const std::size_t most = kWidth - kNames;
  if (clause.size() <= most) return clause;
  clause.resize(clause.rfind(' ', most - 4));
  return clause + " ...";
}

std::string line_of(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option_names(option)) names += (names.empty() ? "  " : ", ") + name;
  if (names.size() + 2 > kNames) names = "  " + option_names(option).front();
  names.resize(std::max(kNames, names.size() + 2), ' ');
  return names + first_clause(option.get_description()) + "\n";
}

}  // namespace

std::vector<std::string> option_names(const CLI::Option& option) {
  std::vector<std::string> names;
  if (option.get_positional()) {
    names.push_back(option.get_name());
    std::ranges::transform(names[0], names[0].begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  }
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string wrapped(std::string line, const std::string& words, std::size_t width) {
  const std::size_t indent = line.size();
  std::string text;
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    if (line.size() > indent && line.size() + 1 + word.size() > width) {
      text += line + "\n";
      line.assign(indent, ' ');
    }
    line += (line.size() > indent ? " " : "") + word;
  }
  return text + line + "\n";
}

std::string short_help(const CLI::App& command, const std::string& program) {
  std::string usage = "Usage: " + program + " " + command.get_name(), positionals, main, others;
  for (const std::string& group : command.get_groups()) {
    std::string names;
    for (const CLI::Option* option : command.get_options()) {
      if (option->get_group() != group) continue;
      if (option->get_positional())
        usage += " " + option_names(*option).front(), positionals += line_of(*option);
      else if (group == "Options")
        main += line_of(*option);
      else
        names += option_names(*option).front() + " ";
    }
    if (!names.empty()) others += wrapped("  " + group + ": ", names, kWidth);
  }
  return wrapped("", command.get_description(), kWidth) + usage + " [OPTIONS]\n\n" + positionals + main + others +
         "\n" + command.get_footer() + "\n\nWhat each option means, with its range and default: " + program + " " +
         command.get_name() + " --help-all\n";
}

}  // namespace voxshard
