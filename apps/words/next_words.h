// Derives a follow-up command for the same model: the same words with another name, without options that only the first
// command has.
//
//   next_words({"plan", "--size", "64x64x64", "--explain"}, {.name = {"verify"}, .flags = {"--explain"}});
//   // {"verify", "--size", "64x64x64"}
#pragma once

#include <set>
#include <string>
#include <vector>

namespace voxshard {

struct NextCommand {
  std::vector<std::string> name;       // {"bench", "step"}: replaces the first word
  std::set<std::string> flags = {};    // words to leave out
  std::set<std::string> options = {};  // options to leave out with their values, as --name VALUE or --name=VALUE
};

/// Returns the words of the next command; --json and --quiet are left out too.
std::vector<std::string> next_words(const std::vector<std::string>& words, const NextCommand& next);

/// The options that cut a model, in the words of the command line.
inline const std::set<std::string> kCutOptions = {"--partition", "--cores", "--replicas", "--recompute",
                                                  "--thinnest-slab"};

}  // namespace voxshard
