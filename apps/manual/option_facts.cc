#include "apps/manual/option_facts.h"

#include <CLI/CLI.hpp>

#include "apps/words/short_help.h"

namespace voxshard {
namespace {

/// Returns the words of "{folder,tfrecord}", as validators of choices describe themselves; nothing for other text.
std::vector<std::string> words_in_braces(const std::string& text) {
  std::vector<std::string> words;
  if (!text.starts_with('{') || !text.ends_with('}')) return words;
  std::string word;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] != ',' && i + 1 < text.size()) {
      word += text[i];
      continue;
    }
    words.push_back(word);
    word.clear();
  }
  return words;
}

/// Returns "1 to 9" of "INT in [1 - 9]", as CLI::Range describes itself; other text as it is.
std::string plain_range(std::string text, const std::string& type) {
  const std::string begin = type + " in [", between = " - ";
  if (!text.starts_with(begin) || !text.ends_with(']')) return text;
  text = text.substr(begin.size(), text.size() - begin.size() - 1);
  const std::size_t at = text.find(between);
  return at == std::string::npos ? text : text.replace(at, between.size(), " to ");
}

}  // namespace

OptionFacts option_facts(const CLI::Option& option) {
  OptionFacts facts{.names = option_names(option), .usual = option.get_default_str()};
  if (option.get_items_expected_max() != 0) {         // 0: a flag
    const std::string text = option.get_type_name();  // "TEXT:{a,b}", "FLOAT:0 to 9": no name of a type has a colon
    const std::size_t colon = text.find(':');
    facts.type = text.substr(0, colon);
    if (facts.type.empty()) facts.type = "VALUE";
    if (colon != std::string::npos) facts.range = text.substr(colon + 1);
    facts.range = plain_range(facts.range, facts.type);
    facts.choices = words_in_braces(facts.range);
    if (!facts.choices.empty()) facts.range.clear();
  }
  for (const CLI::Option* other : option.get_excludes()) facts.excludes.push_back(option_names(*other).back());
  return facts;
}

std::vector<OptionGroup> option_groups(const CLI::App& command) {
  std::vector<OptionGroup> groups;
  for (const std::string& name : command.get_groups()) {
    OptionGroup group{.name = name};
    for (const CLI::Option* option : command.get_options())
      if (option->get_group() == name && !option->get_positional()) group.options.push_back(option);
    if (!name.empty() && !group.options.empty()) groups.push_back(std::move(group));  // without a name: hidden
  }
  return groups;
}

std::vector<const CLI::Option*> positionals_of(const CLI::App& command) {
  return command.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<const CLI::App*> commands_of(const CLI::App& root) {
  return root.get_subcommands([](const CLI::App*) { return true; });
}

}  // namespace voxshard
