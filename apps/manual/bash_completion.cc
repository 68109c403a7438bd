#include "apps/manual/bash_completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/manual/option_facts.h"
#include "libcore/base/error.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

using Words = std::vector<std::string>;

/// Returns the words in quotes, for compgen -W. It expands them, so that only plain ones may stand there.
std::string quoted(const Words& words) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:@%+";
  for (const std::string& word : words)
    ensure(!word.empty() && word.find_first_not_of(kPlain) == std::string::npos, "a completed word is plain");
  return "'" + joined(words, " ") + "'";
}

/// Returns the lines of a `case` over the word before: what kind of value its option takes.
std::string value_cases(const std::vector<OptionFacts>& options) {
  Words of_files, of_numbers;
  std::string text;
  for (const OptionFacts& option : options) {
    if (option.is_flag()) continue;
    if (option.choices.empty()) {
      Words& names = option.is_number() ? of_numbers : of_files;
      names.insert(names.end(), option.names.begin(), option.names.end());
    } else {
      text += "        " + joined(option.names, " | ") + ") kind=words words=" + quoted(option.choices) + " ;;\n";
    }
  }
  if (!of_files.empty()) text += "        " + joined(of_files, " | ") + ") kind=file ;;\n";
  if (!of_numbers.empty()) text += "        " + joined(of_numbers, " | ") + ") kind=number ;;\n";
  return text.empty() ? "" : "      case $before in\n" + text + "      esac\n";
}

std::string command_case(const std::string& pattern, const CLI::App& app, Words arguments) {
  std::vector<OptionFacts> options;
  Words names;
  for (const OptionGroup& group : option_groups(app))
    for (const CLI::Option* option : group.options) {
      options.push_back(option_facts(*option));
      names.insert(names.end(), options.back().names.begin(), options.back().names.end());
    }
  for (const CLI::Option* option : positionals_of(app)) {
    const OptionFacts facts = option_facts(*option);
    arguments.insert(arguments.end(), facts.choices.begin(), facts.choices.end());
  }
  return "    " + pattern + ")\n      options=" + quoted(names) + "\n      arguments=" + quoted(arguments) + "\n" +
         value_cases(options) + "      ;;\n";
}

constexpr const char* kHead = R"bash(() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= options= arguments= kind= words= i
  COMPREPLY=()
  # bash breaks --option=value into three words.
  if [ "$word" = = ]; then
    word=
  elif [ "$before" = = ] && [ "$COMP_CWORD" -gt 1 ]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      -*) ;;
      *) command=${COMP_WORDS[i]}; break ;;
    esac
  done
  case $command in
)bash";

constexpr const char* kTail = R"bash(  esac
  if [ -z "$kind" ]; then
    case $word in
      -*) kind=words words=$options ;;
      *) words=$arguments ;;
    esac
  fi
  if [ -n "$words" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  fi
  if [ ${#COMPREPLY[@]} -eq 0 ] && [ "$kind" != words ] && [ "$kind" != number ] && [ -n "$command" ]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
)bash";

}  // namespace

std::string bash_completion(const CLI::App& root, const CompletionFacts& facts) {
  const std::string& name = root.get_name();
  Words commands;
  for (const CLI::App* command : commands_of(root)) commands.push_back(command->get_name());
  std::string text = "# Completion of " + name + " " + facts.version + " for bash; \"" + name +
                     " help completion bash\" prints it.\n_" + name + kHead + command_case("''", root, commands);
  for (const CLI::App* command : commands_of(root)) {
    const auto words = facts.arguments.find(command->get_name());
    text += command_case(command->get_name(), *command, words == facts.arguments.end() ? Words() : words->second);
  }
  return text + kTail + "complete -F _" + name + " " + name + "\n";
}

}  // namespace voxshard
