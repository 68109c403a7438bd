// What a subcommand is. Each lives in the file of its name, which exports one function for the table in main.cc:
//
//   Command info_command() {
//     return {"info", "What the headers say.", "voxshard info liver_03.nii.gz", [](CLI::App& app) -> RunCommand { ...
//     }};
//   }
//
// Options are registered first; main parses, puts in what --config says, and then calls the returned function.
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

/// What main knows after parsing and every subcommand may use.
struct Context {
  int threads = 1;
  bool json = false;
  Progress* progress = nullptr;          // never null when a command runs
  std::vector<std::string> words = {};   // that were typed, the subcommand's name first
  std::set<std::string> of_config = {};  // the settings of the subcommand that --config says
  std::vector<KeyUse> config = {};       // of explain: the keys of --config
  std::vector<std::pair<std::string, std::string>> for_train =
      {};                          // of explain: what --config says to train, by setting
  Transport* transport = nullptr;  // to the other ranks; never null when a command runs
};

/// What a subcommand hands back; main prints `json` with --json, else `text`, both on standard output.
struct Outcome {
  nlohmann::ordered_json json;
  std::string text;
  int exit_code = 0;
  bool interrupted = false;            // main then exits with the code of the signal
  std::vector<std::string> next = {};  // the command to go on with, without "voxshard"; may be empty
  std::vector<std::string> resume =
      {};  // the same when interrupted; empty: the words again, with --resume where there is one
};

using RunCommand = std::function<Outcome(const Context&)>;

struct Command {
  const char* name;
  const char* summary;  // one sentence
  const char* example;  // the last lines of --help
  RunCommand (*add)(CLI::App& app);
  const char* saves = nullptr;  // what a first Ctrl-C or SIGTERM leaves, for the screen; null: nothing, it ends at once
  const char* leaves = nullptr;  // of one that ends at once, what stays all the same; null: nothing worth a word
  bool ranks = false;            // may run over several ranks; main refuses the others
};

}  // namespace voxshard
