// The `voxshard` command: a table of subcommands and the options common to all. Only apps reads argv, prints results
// (results.cc) and picks exit codes. A subcommand consists of its file and its line in the table.
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>

#include "apps/command.h"
#include "apps/ranks.h"
#include "apps/results.h"
#include "apps/sbom/sbom.h"
#include "apps/terminal/exit_code.h"
#include "apps/terminal/log_file.h"
#include "apps/terminal/progress.h"
#include "apps/terminal/stop_signals.h"
#include "apps/words/config_args.h"
#include "apps/words/help_format.h"
#include "apps/words/typos.h"
#include "io/files/now_reading.h"
#include "io/files/standard_streams.h"
#include "io/system/process_memory.h"
#include "libcore/base/cpu.h"
#include "libcore/base/thread_shortage.h"
#include "libcore/ranks/launcher.h"
#include "pipelines/settings/original_keys.h"

// One line per subcommand, in the order of a typical workflow.
#define VOXSHARD_COMMANDS(X) \
  X(demo)                    \
  X(info)                    \
  X(check)                   \
  X(convert)                 \
  X(prepare)                 \
  X(plan)                    \
  X(train)                   \
  X(status)                  \
  X(predict)                 \
  X(evaluate)                \
  X(report)                  \
  X(verify)                  \
  X(attest)                  \
  X(bench)                   \
  X(explain)                 \
  X(doctor)                  \
  X(schema)                  \
  X(help)

namespace voxshard {

#define DECLARE(name) Command name##_command();
VOXSHARD_COMMANDS(DECLARE)
#undef DECLARE

namespace {

std::vector<Command> commands() {
#define ROW(name) name##_command(),
  return {VOXSHARD_COMMANDS(ROW)};
#undef ROW
}

struct GlobalOptions {
  std::string config;
  int threads = 1;
  bool json = false, quiet = false, verbose = false;
  std::string log;
};

void add_global_options(CLI::App& app, GlobalOptions& global) {
  const std::string group = "Options of every subcommand";
  app.add_option("--config", global.config,
                 "TOML, JSON or YAML file; keys are long option names or those of the original's configs, the command "
                 "line wins")
      ->group(group);
  app.add_option("--threads", global.threads,
                 "Worker threads; results do not depend on it; default: the processors that this process may use, of "
                 "several ranks shared out on each host")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str()
      ->group(group);
  app.add_flag("--json", global.json, "One JSON document on standard output, text for people on standard error")
      ->group(group);
  app.add_option("--log", global.log,
                 "File to which log lines, warnings, progress and the end of the command are appended, as JSON lines")
      ->group(group);
  app.add_flag("-q,--quiet", global.quiet,
               "No progress and no log lines on standard error, only warnings, what was left out, and errors")
      ->group(group);
  app.add_flag("--verbose", global.verbose, "Details too: the planned memory by part")->group(group);
}

/// Adds all subcommands with their options.
std::vector<RunCommand> add_commands(CLI::App& root, const std::vector<Command>& table, GlobalOptions& global) {
  std::vector<RunCommand> runs;
  for (const auto& command : table) {
    CLI::App* app = root.add_subcommand(command.name, command.summary);
    runs.push_back(command.add(*app));
    add_global_options(*app, global);
    app->footer(std::string("Example:\n  ") + command.example);
  }
  return runs;
}

/// The additions of a config file to the command line.
struct ConfigWords {
  using Pairs = std::vector<std::pair<std::string, std::string>>;  // name and value

  std::vector<std::string> notes;  // keys that have no effect
  std::set<std::string> names;     // names of the options that it sets
  std::vector<KeyUse> uses;        // for explain
  Pairs for_train = {};            // the same
};

/// Returns the error of train's options for these values; nullopt when they accept them.
std::optional<std::string> refusal_of_train(const nlohmann::json& values, const std::vector<Command>& table) {
  CLI::App root;
  GlobalOptions unused;
  const auto commands = add_commands(root, table, unused);  // they own the parsed values
  std::vector<std::string> words = words_of(config_values(values, root, "train", {}));
  std::reverse(words.begin(), words.end());  // CLI11 takes the last word first
  for (const char* word : {"run", "--output", "data", "train"}) words.push_back(word);
  try {
    root.parse(words);
    return std::nullopt;
  } catch (const CLI::ParseError& e) {
    return e.what();
  }
}

/// Throws kConfig, naming the key, when train refuses a value.
void require_train_takes(const nlohmann::json& values, const std::vector<KeyUse>& uses,
                         const std::vector<Command>& table) {
  const auto refusal = refusal_of_train(values, table);
  if (!refusal) return;
  for (const KeyUse& use : uses)
    if (const auto of_key = refusal_of_train(use.options, table))
      throw Error(ErrorKind::kConfig,
                  "[config] " + use.key + " is " + use.value.dump() + ", which train does not take: " + *of_key);
  throw Error(ErrorKind::kConfig, "[config] train does not take it: " + *refusal);
}

bool asks_for_stage_config(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == "--stage=config" || (words[i] == "config" && i > 0 && words[i - 1] == "--stage")) return true;
  return false;
}

/// Returns the command line with the words of --config inserted after the subcommand's name.
std::vector<std::string> with_config(const std::vector<std::string>& words, const CLI::App& root,
                                     const std::vector<Command>& table, ConfigWords& said) {
  const std::string path = config_path(words);
  if (path.empty()) return words;
  for (std::size_t i = 0; i < words.size(); ++i)
    for (const auto& command : table) {
      if (words[i] != command.name) continue;
      std::vector<std::string> all(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      const auto document = config_json(path);
      try {
        OptionValues config = with_option_names(document);
        said.notes = std::move(config.notes);
        if (config.of_reference && !config.values.contains("preset"))
          config.values["preset"] = "reference";  // published settings
        const auto values = config_values(config.values, root, command.name, words);
        for (const auto& [name, value] : values) said.names.insert(name);
        for (auto& word : words_of(values)) all.push_back(std::move(word));
        all.insert(all.end(), words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
        if (std::string_view(command.name) == "explain" && asks_for_stage_config(words)) {
          said.uses = key_uses(document);
          require_train_takes(config.values, said.uses, table);
          said.for_train = config_values(config.values, root, "train", {});
        }
        return all;
      } catch (Error& e) {
        e.add_context(path);
        throw;
      }
    }
  return words;
}

/// Returns the typed words, changed so that they resume a stopped run.
std::vector<std::string> again(std::vector<std::string> words, const CLI::App& app) {
  std::erase(words, "--restart");
  if (app.get_option_no_throw("--resume") != nullptr &&
      std::find(words.begin(), words.end(), "--resume") == words.end())
    words.push_back("--resume");
  return words;
}

/// Returns what is reported of any exception.
Error error_of(const std::exception& e) {
  if (const auto* own = dynamic_cast<const Error*>(&e)) return *own;
  if (dynamic_cast<const std::bad_alloc*>(&e) != nullptr)
    return {ErrorKind::kBudget,
            "[memory] the system refused an allocation; give a smaller size or batch, fewer filters or a finer cut, or "
            "free memory"};
  if (dynamic_cast<const std::filesystem::filesystem_error*>(&e) != nullptr)
    return {ErrorKind::kInput, std::string("[input] ") + e.what() + "; check the path and its permissions"};
  if (const auto* system = dynamic_cast<const std::system_error*>(&e)) {  // also from a library that starts threads
    const bool refused = system->code() == std::errc::resource_unavailable_try_again;
    return {refused ? ErrorKind::kBudget : ErrorKind::kInternal, refused ? "E_THREADS" : "E_INTERNAL",
            std::string(refused ? "[threads] the system refused a thread: " : "[internal] ") + e.what()};
  }
  return {ErrorKind::kInternal, std::string("[internal] ") + e.what()};
}

/// Runs a command; an error that ends it becomes the last line of the log.
Outcome logging_errors(std::optional<LogFile>& log, const std::function<Outcome()>& run) {
  try {
    return run();
  } catch (const Stopped&) {
    if (log) log->error("E_STOPPED", "interrupted", stop_exit_code());
    throw;
  } catch (const std::exception& e) {
    const Error error = error_of(e);
    if (log) log->error(error.code(), error.what(), exit_code(error.kind()));
    throw;
  }
}

/// Parses and runs. Returns the exit code. Errors: those of the command line, of the subcommand and of printing.
///   wants_json  set where a config file asks for JSON, once it is read
int run_words(const std::vector<std::string>& words, Transport& transport, bool& wants_json) {
  CLI::App root(
      "Trains on whole CT volumes and video cut over a set of emulated cores. No network, no telemetry; not a medical "
      "device.");
  root.name("voxshard");
  root.formatter(help_format());
  root.set_help_flag("-h,--help", "A page of help");
  root.set_help_all_flag("--help-all", "What each option means, with its range and default");
  root.footer("Example: voxshard demo data && voxshard prepare data -o work");
  bool version = false, sbom = false;
  GlobalOptions global{.threads = usable_workers(transport)};
  root.add_flag("--version", version, "The version; with --json as a document");
  root.add_flag("--json", global.json, "With --version");
  root.add_flag("--sbom", sbom, "The software bill of materials: SPDX 2.3 as JSON");
  const auto table = commands();
  const std::vector<RunCommand> runs = add_commands(root, table, global);
  root.require_subcommand(0, 1);
  try {
    ConfigWords said;
    std::vector<std::string> all = with_config(words, root, table, said);
    std::reverse(all.begin(), all.end());  // CLI11 takes the last word first
    root.parse(all);
    wants_json = wants_json || global.json;
    if (version) return print_version(global.json);
    if (sbom) return print_outcome({.json = spdx_document()}, {.json = true});
    const auto chosen = root.get_subcommands();
    if (chosen.empty()) throw Error(ErrorKind::kUsage, "[usage] no subcommand; try voxshard --help");
    instruction_set();  // throws for a processor without kernels, and for an invalid or unsupported VOXSHARD_ISA
    const auto command =
        std::find_if(table.begin(), table.end(), [&](const Command& c) { return chosen[0]->get_name() == c.name; });
    ensure(command != table.end(), "the subcommand is in the table");
    if (!command->ranks) require_one_rank(transport, command->name);
    TerminalProgress screen({.quiet = global.quiet});
    std::optional<LogFile> log;
    if (!global.log.empty() && transport.rank() == 0) log.emplace(global.log, screen, command->name);
    Progress& progress = log ? static_cast<Progress&>(*log) : screen;
    for (const auto& note : said.notes) progress.log(note);
    const ThreadShortage shortage(chosen[0]->count("--threads") == 0,
                                  [&](const std::string& text) { progress.warn(text); });
    const bool saves = command->saves != nullptr;
    on_stop({.saves = saves ? command->saves : "",
             .leaves = command->leaves != nullptr ? command->leaves : "no file is left half-written",
             .quiet = global.quiet,
             .json = global.json});
    screen.starting(command->name, saves);
    const RunCommand& run_command = runs[command - table.begin()];
    Outcome outcome = logging_errors(log, [&] {
      return run_command({.threads = global.threads,
                          .json = global.json,
                          .progress = &progress,
                          .words = words,
                          .of_config = said.names,
                          .config = said.uses,
                          .for_train = said.for_train,
                          .transport = &transport});
    });
    screen.finish();
    if (outcome.interrupted) outcome.next = outcome.resume.empty() ? again(words, *chosen[0]) : outcome.resume;
    const int code = print_outcome(outcome, {.json = global.json, .verbose = global.verbose});
    if (log) log->end(code);
    return code;
  } catch (const CLI::Success& help) {  // --help
    return print_help(root, help);
  } catch (const CLI::ParseError& e) {
    const std::string text = typo_text(words, root).value_or(refusal_text(e, root));
    throw Error(ErrorKind::kUsage, "[usage] " + text + (text.ends_with('?') ? " (see --help)" : "; try --help"));
  }
}

int run(const std::vector<std::string>& words) {
  bool wants_json = std::find(words.begin(), words.end(), "--json") != words.end();
  std::unique_ptr<Transport> transport;  // its destructor waits for the other ranks, after all output
  try {
    transport = start_transport(std::getenv);
    return as_rank(*transport, words, [&] { return run_words(words, *transport, wants_json); });
  } catch (const Stopped&) {
    return report_stop(wants_json);
  } catch (const std::exception& e) {
    const Error error = error_of(e);
    return tells_of_stop(error) ? report_stop(wants_json) : report_error(error, wants_json);
  }
}

}  // namespace
}  // namespace voxshard

int main(int argc, char** argv) {
  if (!voxshard::open_standard_streams()) return voxshard::kExitOutput;
  voxshard::return_freed_memory();
  voxshard::note_crashes(STDERR_FILENO);
  voxshard::catch_stop_signals();
  return voxshard::run({argv + 1, argv + argc});
}
