// Manual pages in roff, made of the same parser that prints --help, so that they name every option there is.
//
//   program_page(root, facts);                  // voxshard(1)
//   command_page(*train, root, facts);          // voxshard-train(1)
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace voxshard {

struct ManualItem {
  std::string term, text;  // "9", "a verification found a difference"
};

/// The texts of pages beside the parser's own words.
struct ManualFacts {
  std::string version;  // "0.2.0"
  std::string date;     // of the version, "2026-11-26"
  std::vector<ManualItem> exit_codes, environment;
};

/// Returns the page of the program: its commands, and the options that all of them have.
std::string program_page(const CLI::App& root, const ManualFacts& facts);

/// Returns the page of a command of `root` with all of its options: meaning, choices or range, default.
std::string command_page(const CLI::App& command, const CLI::App& root, const ManualFacts& facts);

}  // namespace voxshard
