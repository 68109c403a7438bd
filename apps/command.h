// The parts of a subcommand. Each lives in the file of its name, which exports one function for the table in main.cc:
//
//   Command info_command() {
//     return {"info", "What the headers say.", "voxshard info liver_03.nii.gz", [](CLI::App& app) -> RunCommand { ...
//     }};
//   }
//
// Options are registered first; main parses, adds the values of --config, and then calls the returned function.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "pipelines/model_runs/report.h"
#include "pipelines/settings/key_uses.h"

namespace CLI {
class App;
}

namespace voxshard {

class Transport;

/// The values known to main after parsing, for every subcommand.
struct Context {
  int threads = 1;
  bool json = false;
  Progress* progress = nullptr;          // never null when a command runs
  std::vector<std::string> words = {};   // the words as typed, the subcommand's name first
  std::set<std::string> of_config = {};  // the settings of the subcommand that --config sets
  std::vector<KeyUse> config = {};       // for explain: the keys of --config
  std::vector<std::pair<std::string, std::string>> for_train =
      {};                          // for explain: the values of --config for train, by setting
  Transport* transport = nullptr;  // to the other ranks; never null when a command runs
};

/// The result of a subcommand; main prints `json` with --json, else `text`, both on standard output.
struct Outcome {
  nlohmann::ordered_json json;
  std::string text;
  int exit_code = 0;
  bool interrupted = false;            // main then exits with the code of the signal
  std::vector<std::string> next = {};  // a suggested next command, without "voxshard"; may be empty
  std::string note = {};               // a line on it for people; may be empty
  // the same when interrupted; empty: the same words, with --resume if the command has it
  std::vector<std::string> resume = {};
};

using RunCommand = std::function<Outcome(const Context&)>;

struct Command {
  const char* name;
  const char* summary;  // one sentence
  const char* example;  // the last lines of --help
  RunCommand (*add)(CLI::App& app);
  const char* saves = nullptr;   // message on a first Ctrl-C or SIGTERM: what is saved; null: it ends at once
  const char* leaves = nullptr;  // for one that ends at once: what stays nevertheless; null: no message
  bool ranks = false;            // may run over several ranks; main refuses ranks for the other commands
};

}  // namespace voxshard
