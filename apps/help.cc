// voxshard help: the help of a command, and the program's lists: options, codes, exit codes, formats, libraries.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "apps/command.h"
#include "apps/exit_code.h"
#include "apps/sbom/sbom.h"
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
Outcome list_options(CLI::App& root) {
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

Outcome list_codes(CLI::App&) {
  Outcome outcome;
  Rows rows;
  for (const CodeRow& row : kCodes) {
    rows.push_back({std::string(row.code), with_flags(row.meaning)});
    outcome.json[rows.back()[0]] = rows.back()[1];
  }
  outcome.text = wrapped_table(rows);
  return outcome;
}

Outcome list_exit_codes(CLI::App&) {
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

Outcome list_formats(CLI::App&) {
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
Outcome list_third_party(CLI::App&) {
  Outcome outcome;
  Rows rows;
  for (const ThirdParty& one : third_party()) {
    rows.push_back({one.package, one.version.empty() ? "unknown" : one.version, one.licence,
                    one.direct() ? one.use : "loaded by another library"});
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

struct Topic {
  const char* name;
  const char* what;
  Outcome (*list)(CLI::App& root);
};

constexpr Topic kTopics[] = {
    {"options", "the options of every command", list_options},
    {"codes", "the codes of what is left out, of errors and of notes", list_codes},
    {"exit-codes", "what a command ends with", list_exit_codes},
    {"formats", "the files of data that are read and written", list_formats},
    {"third-party", "the libraries of others in the program, with versions and licences", list_third_party},
};

Outcome say(std::string text) { return {.json = {{"help", text}}, .text = std::move(text)}; }

/// Prints `voxshard --help` and the topics. It avoids root.help(), which prints the help of the chosen command.
Outcome general_help(CLI::App& root) {
  Rows rows;
  for (const Topic& topic : kTopics) rows.push_back({std::string("  voxshard help ") + topic.name, topic.what});
  return say(root.get_formatter()->make_help(&root, root.get_name(), CLI::AppFormatMode::Normal) + "\nMore help:\n" +
             wrapped_table(rows) + "  voxshard COMMAND --help\n");
}

Outcome help_on(const std::string& word, CLI::App& root) {
  for (const Topic& topic : kTopics)
    if (word == topic.name) return topic.list(root);
  std::vector<std::string> names;
  for (const Topic& topic : kTopics) names.push_back(topic.name);
  for (CLI::App* command : subcommands_of(root)) {
    if (word == command->get_name()) return say(short_help(*command, root.get_name()));
    names.push_back(command->get_name());
  }
  const auto likely = likely_name(word, names);
  throw Error(ErrorKind::kUsage,
              "[usage] there is no help on \"" + word + "\"" +
                  (likely ? "; did you mean " + *likely + "?" : "; expected " + joined(names, ", ")));
}

RunCommand add(CLI::App& app) {
  auto topic = std::make_shared<std::string>();
  app.add_option("topic", *topic,
                 "A command, or options, codes, exit-codes, formats or third-party; nothing: all commands");
  return [topic, &app](const Context&) {
    return topic->empty() ? general_help(*app.get_parent()) : help_on(*topic, *app.get_parent());
  };
}

}  // namespace

Command help_command() {
  return {"help", "The help of a command, and the lists of options, codes, exit codes, formats and libraries.",
          "voxshard help exit-codes", add};
}

}  // namespace voxshard
