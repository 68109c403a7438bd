#include "apps/manual/manual_page.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <sstream>

#include "apps/manual/option_facts.h"
#include "apps/manual/roff.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

/// Returns the first sentence without its full stop and its capital, as the line NAME of a page wants it.
std::string purpose(const std::string& description) {
  std::string text = description.substr(0, description.find(". "));
  if (text.ends_with('.')) text.pop_back();
  const auto is_lower = [](char ch) { return std::islower(static_cast<unsigned char>(ch)) != 0; };
  if (text.size() > 1 && is_lower(text[1]))
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

struct Opening {
  std::string page, program, description, synopsis;  // "toy-pack", "toy"; the synopsis is in roff
};

/// Returns the title line and the sections NAME, SYNOPSIS and DESCRIPTION.
std::string opening_text(const Opening& of, const ManualFacts& facts) {
  const std::string version = of.program + " " + facts.version;
  std::string title = of.page;
  std::ranges::transform(title, title.begin(), [](unsigned char ch) { return static_cast<char>(std::toupper(ch)); });
  return ".\\\" Made by " + version + " of its options.\n.TH " + title + " 1 " + facts.date + " \"" + version +
         "\" \"User Commands\"\n.SH NAME\n" + roff_text(of.page) + " \\- " + roff_text(purpose(of.description)) +
         "\n.SH SYNOPSIS\n" + roff_paragraph(of.synopsis) + ".SH DESCRIPTION\n" +
         roff_paragraph(roff_text(of.description));
}

std::string item(const std::string& term, const std::string& text) {
  return ".TP\n" + term + "\n" + roff_paragraph(text.empty() ? "\\&" : text);
}

/// Returns "Default: 3." of "3"; nothing of nothing.
std::string sentence(const std::string& what, const std::string& value) {
  return value.empty() ? "" : " " + what + " " + value + ".";
}

std::string option_item(const CLI::Option& option) {
  const OptionFacts facts = option_facts(option);
  std::string term = joined(facts.names, ", ", roff_bold);
  if (!facts.is_flag() && !option.get_positional()) term += " " + roff_italic(facts.type);
  std::string text = option.get_description();
  while (text.ends_with(' ') || text.ends_with('.')) text.pop_back();
  if (!text.empty()) text += ".";
  text += sentence("One of", joined(facts.choices, ", ")) + sentence("Range:", facts.range) +
          sentence("Default:", facts.usual) + sentence("Not together with", joined(facts.excludes, ", "));
  return item(term, roff_text(text));
}

std::string items(const std::vector<const CLI::Option*>& options) {
  return joined(options, "", [](const CLI::Option* option) { return option_item(*option); });
}

std::string section(const std::string& name, const std::vector<ManualItem>& rows) {
  if (rows.empty()) return "";
  return ".SH " + name + "\n" +
         joined(rows, "", [](const ManualItem& row) { return item(roff_bold(row.term), roff_text(row.text)); });
}

/// Returns the section of the command lines in a footer, "Example:\n  voxshard train work -o run".
std::string examples(const CLI::App& app) {
  std::string lines = app.get_footer();
  const std::string begin = "Example:";
  if (lines.starts_with(begin)) lines.erase(0, begin.size());
  std::string text;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first == std::string::npos) continue;
    const std::string words = roff_text(line.substr(first, line.find_last_not_of(' ') + 1 - first));
    text += (words.starts_with('.') ? "\\&" : "") + words + "\n";
  }
  return text.empty() ? "" : ".SH EXAMPLES\n.EX\n" + text + ".EE\n";
}

std::string see_also(const std::vector<std::string>& pages) {
  return ".SH SEE ALSO\n" +
         roff_paragraph(joined(pages, ", ", [](const std::string& page) { return roff_bold(page) + "(1)"; }));
}

std::string page_name(const CLI::App& command, const CLI::App& root) {
  return root.get_name() + "-" + command.get_name();
}

std::vector<std::string> page_names(const CLI::App& root) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(root)) names.push_back(page_name(*command, root));
  return names;
}

}  // namespace

std::string program_page(const CLI::App& root, const ManualFacts& facts) {
  std::string text = opening_text({.page = root.get_name(),
                                   .program = root.get_name(),
                                   .description = root.get_description(),
                                   .synopsis = roff_bold(root.get_name()) + " " + roff_italic("COMMAND") + " [" +
                                               roff_italic("OPTIONS") + "] " + roff_italic("ARGUMENTS") + " ..."},
                                  facts);
  text += ".SH COMMANDS\n";
  for (const CLI::App* command : commands_of(root))
    text += item(roff_bold(command->get_name()), roff_text(command->get_description()));
  text += ".SH OPTIONS\n";
  for (const OptionGroup& group : option_groups(root)) text += items(group.options);
  text += section("EXIT STATUS", facts.exit_codes) + section("ENVIRONMENT", facts.environment) + examples(root);
  return text + see_also(page_names(root));
}

std::string command_page(const CLI::App& command, const CLI::App& root, const ManualFacts& facts) {
  const auto positionals = positionals_of(command);
  std::string synopsis = roff_bold(root.get_name() + " " + command.get_name()) + " [" + roff_italic("OPTIONS") + "]";
  for (const CLI::Option* option : positionals) {
    const std::string name = roff_italic(option_facts(*option).names.front());
    const bool many = option->get_items_expected_max() > 1;
    synopsis += " " + (option->get_required() ? name : "[" + name + "]") + (many ? " ..." : "");
  }
  std::string text = opening_text({.page = page_name(command, root),
                                   .program = root.get_name(),
                                   .description = command.get_description(),
                                   .synopsis = synopsis},
                                  facts);
  if (!positionals.empty()) text += ".SH ARGUMENTS\n" + items(positionals);
  text += ".SH OPTIONS\n";
  for (const OptionGroup& group : option_groups(command))
    text += (group.name == "Options" ? "" : ".SS " + roff_text(group.name) + "\n") + items(group.options);
  return text + section("EXIT STATUS", facts.exit_codes) + section("ENVIRONMENT", facts.environment) +
         examples(command) + see_also({root.get_name()});
}

}  // namespace voxshard
