// voxshard help: the help of a command, its manual page, a completion for bash, and the program's lists: options,
// codes, exit codes, formats, libraries.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "apps/command.h"
#include "apps/manual/bash_completion.h"
#include "apps/manual/manual_page.h"
#include "apps/sbom/sbom.h"
#include "apps/terminal/exit_code.h"
#include "apps/terminal/flags.h"
#include "apps/terminal/stop_signals.h"
#include "apps/words/short_help.h"
#include "libcore/base/spelling.h"
#include "libcore/base/text.h"
#include "pipelines/commands/data_formats.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t kWidth = 110;  // characters per line, except for longer words

/// Formats left-aligned columns; the last one is wrapped. All rows have the same number of columns.
std::string wrapped_table(const Rows& rows) {
  std::string text;
  const std::size_t last = rows.front().size() - 1;
  std::vector<std::size_t> widths(last, 0);
  for (const auto& row : rows)
    for (std::size_t c = 0; c < last; ++c) widths[c] = std::max(widths[c], row[c].size());
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < last; ++c) line += row[c] + std::string(widths[c] - row[c].size() + 2, ' ');
    text += wrapped(std::move(line), row[last], kWidth);
  }
  return text;
}

std::vector<CLI::App*> subcommands_of(CLI::App& root) {
  return root.get_subcommands([](CLI::App*) { return true; });
}

/// Returns the first name of an option, which is the short one if it has any.
std::string option_text(const CLI::Option& option) { return option_names(option).front(); }

/// True when every command has the option with the same description.
bool is_of_all(const CLI::Option& option, const std::vector<CLI::App*>& commands) {
  return std::ranges::all_of(commands, [&](const CLI::App* command) {
    const CLI::Option* same =
        option.get_lnames().empty() ? nullptr : command->get_option_no_throw("--" + option.get_lnames().front());
    return same != nullptr && same->get_description() == option.get_description();
  });
}

/// Lists a row per command and group of options; a group equal to that of an earlier command refers to that command.
Outcome list_options(CLI::App& root, const std::string&) {
  const auto commands = subcommands_of(root);
  Outcome outcome;
  Rows rows;
  std::map<std::string, std::string> first_with;  // the first command with a group, by the group and its options
  const auto add = [&](const std::string& name, const CLI::App& app, bool of_all) {
    Json& json = outcome.json[name] = Json::array();
    for (const std::string& group : app.get_groups()) {
      std::vector<std::string> texts;
      for (const CLI::Option* option : app.get_options()) {
        if (option->get_group() != group || is_of_all(*option, commands) != of_all) continue;
        texts.push_back(option_text(*option));
        json.push_back({{"names", option_names(*option)},
                        {"group", group},
                        {"help", option->get_description()},
                        {"default", option->get_default_str()}});
      }
      if (texts.empty()) continue;
      const std::string text = joined(texts, " ");
      const auto [it, is_new] = first_with.emplace(group + ": " + text, name);
      rows.push_back({rows.empty() || json.size() == texts.size() ? name : "", group == "Options" ? "" : group,
                      is_new || texts.size() < 3 ? text : "as " + it->second});
    }
  };
  for (const CLI::App* command : commands) add(command->get_name(), *command, false);
  add("every command", *commands.front(), true);
  outcome.text = wrapped_table(rows);
  return outcome;
}

Outcome list_codes(CLI::App&, const std::string&) {
  Outcome outcome;
  Rows rows;
  for (const CodeRow& row : kCodes) {
    rows.push_back({std::string(row.code), with_flags(row.meaning)});
    outcome.json[rows.back()[0]] = rows.back()[1];
  }
  outcome.text = wrapped_table(rows);
  return outcome;
}

Outcome list_exit_codes(CLI::App&, const std::string&) {
  Outcome outcome;
  Rows rows;
  const auto add = [&](int code, const std::string& kind, const std::string& of_error, const std::string& meaning) {
    rows.push_back({std::to_string(code), kind, of_error, meaning});
    outcome.json.push_back({{"exit_code", code}, {"kind", kind}, {"code", of_error}, {"meaning", meaning}});
  };
  add(kExitOk, "ok", "", "all well");
  for (const ErrorEnd& row : kErrorEnds) add(row.exit_code, row.name, default_code(row.kind), row.meaning);
  for (const StopSignal& signal : kStopSignals)
    add(interrupted_exit_code(signal.number), "interrupted", "E_STOPPED",
        std::string(signal.name) + ": " + signal.meaning);
  outcome.text = wrapped_table(rows);
  return outcome;
}

Outcome list_formats(CLI::App&, const std::string&) {
  Outcome outcome;
  Rows rows;
  for (const DataFormat& row : data_formats()) {
    const bool alike = row.written.empty() || row.written == row.read;
    rows.push_back({row.data, row.format, row.read + (alike ? "" : "; written: " + row.written)});
    outcome.json.push_back({{"data", row.data}, {"format", row.format}, {"read", row.read}, {"written", row.written}});
  }
  outcome.text = wrapped_table(rows);
  return outcome;
}

/// Lists what the program links: first what it calls itself, then what those libraries load.
Outcome list_third_party(CLI::App&, const std::string&) {
  Outcome outcome;
  Rows rows;
  for (const ThirdParty& one : third_party()) {
    rows.push_back({one.package, one.version.empty() ? "unknown" : one.version,
                    one.licence + (one.direct() ? ": " + one.use : ", loaded by another library")});
    outcome.json.push_back({{"package", one.package},
                            {"version", one.version},
                            {"source", one.source},
                            {"licence", one.licence},
                            {"use", one.use},
                            {"compiled_in", one.compiled_in},
                            {"linked", one.linked},
                            {"loaded", one.loaded}});
  }
  outcome.text = wrapped_table(rows);
  return outcome;
}

Outcome say(std::string text) { return {.json = {{"help", text}}, .text = std::move(text)}; }

std::vector<std::string> names_of(const std::vector<CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

/// Returns "; did you mean train?" or "; expected A, B".
std::string meant(const std::string& word, const std::vector<std::string>& names) {
  const auto likely = likely_name(word, names);
  return likely ? "; did you mean " + *likely + "?" : "; expected " + joined(names, ", ");
}

/// Returns a manual page in roff: of the program, or of the command of this name.
Outcome manual(CLI::App& root, const std::string& name) {
  ManualFacts facts{.version = VOXSHARD_VERSION, .date = VOXSHARD_RELEASED};
  for (const auto& row : list_exit_codes(root, "").json)
    facts.exit_codes.push_back({std::to_string(row.at("exit_code").get<int>()), row.at("meaning")});
  facts.environment = {
      {"VOXSHARD_ISA",
       "avx2, avx512, avx512_bf16 or amx: computes as on a processor that has no more than these instructions."},
      {"VOXSHARD_HOST_DEVICE",
       "The file of the measurement of this machine, which doctor writes. Default: voxshard/host.json in "
       "$XDG_CONFIG_HOME or ~/.config."}};
  if (name.empty()) return say(program_page(root, facts));
  for (const CLI::App* command : subcommands_of(root))
    if (name == command->get_name()) return say(command_page(*command, root, facts));
  throw Error(ErrorKind::kUsage,
              "[usage] there is no command \"" + name + "\"" + meant(name, names_of(subcommands_of(root))));
}

Outcome completion(CLI::App& root, const std::string& shell);

struct Topic {
  const char* name;
  const char* takes;  // the word that may follow it, as help shows it; null: none may
  const char* what;
  Outcome (*print)(CLI::App& root, const std::string& word);
};

constexpr Topic kTopics[] = {
    {"options", nullptr, "the options of every command", list_options},
    {"codes", nullptr, "the codes of what is left out, of errors and of notes", list_codes},
    {"exit-codes", nullptr, "what a command ends with", list_exit_codes},
    {"formats", nullptr, "the files of data that are read and written", list_formats},
    {"third-party", nullptr, "the libraries of others in the program, with versions and licences", list_third_party},
    {"man", "[COMMAND]", "a manual page in roff, of the program or of a command", manual},
    {"completion", "bash", "a completion of commands, options and choices, which bash reads", completion},
};

Outcome completion(CLI::App& root, const std::string& shell) {
  if (shell != "bash")
    throw Error(ErrorKind::kUsage, "[usage] there are completions for bash alone: voxshard help completion bash");
  const std::vector<std::string> commands = names_of(subcommands_of(root));
  CompletionFacts facts{.version = VOXSHARD_VERSION, .arguments = {{"help", commands}, {"schema", commands}}};
  for (const Topic& topic : kTopics) facts.arguments["help"].emplace_back(topic.name);
  return say(bash_completion(root, facts));
}

/// Prints `voxshard --help` and the topics. It avoids root.help(), which prints the help of the chosen command.
Outcome general_help(CLI::App& root) {
  Rows rows;
  for (const Topic& topic : kTopics)
    rows.push_back({std::string("  voxshard help ") + topic.name + (topic.takes != nullptr ? " " : "") +
                        (topic.takes != nullptr ? topic.takes : ""),
                    topic.what});
  return say(root.get_formatter()->make_help(&root, root.get_name(), CLI::AppFormatMode::Normal) + "\nMore help:\n" +
             wrapped_table(rows) + "  voxshard COMMAND --help\n");
}

Outcome help_on(const std::string& word, const std::string& name, CLI::App& root) {
  const auto require_last = [&] {
    if (!name.empty()) throw Error(ErrorKind::kUsage, "[usage] no word follows help " + word + "; got " + name);
  };
  std::vector<std::string> names;
  for (const Topic& topic : kTopics) {
    names.emplace_back(topic.name);
    if (word != topic.name) continue;
    if (topic.takes == nullptr) require_last();
    return topic.print(root, name);
  }
  for (CLI::App* command : subcommands_of(root)) {
    names.push_back(command->get_name());
    if (word != command->get_name()) continue;
    require_last();
    return say(short_help(*command, root.get_name()));
  }
  throw Error(ErrorKind::kUsage, "[usage] there is no help on \"" + word + "\"" + meant(word, names));
}

struct Words {
  std::string topic, name;
};

RunCommand add(CLI::App& app) {
  auto words = std::make_shared<Words>();
  app.add_option(
      "topic", words->topic,
      "A command, or options, codes, exit-codes, formats, third-party, man or completion; nothing: all commands");
  app.add_option("name", words->name, "Of man: the command, nothing: the program; of completion: bash");
  return [words, &app](const Context&) {
    CLI::App& root = *app.get_parent();
    return words->topic.empty() ? general_help(root) : help_on(words->topic, words->name, root);
  };
}

}  // namespace

Command help_command() {
  return {"help",
          "The help of a command, the lists of options, codes, exit codes, formats and libraries, manual pages, and a "
          "completion for "
          "bash.",
          "voxshard help exit-codes", add};
}

}  // namespace voxshard
