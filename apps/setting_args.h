// Settings as options of a subcommand: the parser of the command line only says words to them.
//
//   add_settings(app, o->settings);                                        // an option per row, in their order
//   app.add_option("--files", files)->check(number_in({1, 99999}));        // one that is no setting
#pragma once

#include <string>
#include <vector>

#include "libcore/base/number_range.h"
#include "pipelines/settings/settings.h"

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace voxshard {

/// The type name of options that are paths.
inline constexpr const char* kPathType = "PATH";

/// The range of a number as the check of its option: it refuses what the library would refuse, before anything begins,
/// and help shows it. What is no number passes: the conversion that follows says so.
///   app.add_option("--seed", seed, "Seed")->check(number_in(kSeeds));   // --seed: -1 is not in 0 to 9.2e+18
CLI::Validator number_in(const NumberRange& range);

/// One of these words as the check of an option; a word that is nearly one of them gets it as a suggestion.
///   app.add_option("--to", to)->check(one_of({"folder", "tfrecord"}));
///   // --to: foldr not in {folder,tfrecord}; did you mean folder?
CLI::Validator one_of(const std::vector<std::string>& words);

/// An option that says bytes, like 8GiB; `bytes` stays as it is where nobody says them, and must stay where it is.
CLI::Option* add_memory_option(CLI::App& app, const std::string& name, std::int64_t& bytes, const std::string& help);

/// One option for each row that has none yet. What is parsed is said to `settings`, which must stay where they are, as
/// the layer of the command line.
void add_settings(CLI::App& app, Settings& settings);

}  // namespace voxshard
