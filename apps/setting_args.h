// Settings as options of a subcommand: the command-line parser passes the words on to the settings.
//
//   add_settings(app, o->settings);                                        // an option per row, in their order
//   app.add_option("--files", files)->check(number_in({1, 99999}));        // an option that is no setting
#pragma once

#include <string>
#include <vector>

#include "io/volume/volume.h"
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

/// Returns a validator for the range of a number: it refuses values that the library would refuse, before anything
/// begins, and help shows the range. A word that is no number passes; the conversion that follows reports it.
///   app.add_option("--seed", seed, "Seed")->check(number_in(kSeeds));   // --seed: -1 is not in 0 to 9.2e+18
CLI::Validator number_in(const NumberRange& range);

/// Returns a validator that accepts only these words; a word that is close to one of them gets it as a suggestion.
///   app.add_option("--to", to)->check(one_of({"folder", "tfrecord"}));
///   // --to: foldr not in {folder,tfrecord}; did you mean folder?
CLI::Validator one_of(const std::vector<std::string>& words);

/// Adds an option for bytes, like 8GiB. `bytes` keeps its value when the option is absent, and must keep its address.
CLI::Option* add_memory_option(CLI::App& app, const std::string& name, std::int64_t& bytes, const std::string& help);

/// Adds --irregular-slices: reject or resample. `irregular` is the default, and must keep its address.
CLI::Option* add_irregular_option(CLI::App& app, IrregularSlices& irregular, const std::string& help);

/// Adds --checkpoint and --weights, which name the weights of a run; `group`: their heading in the help, may be empty.
void add_weights_options(CLI::App& app, std::string& checkpoint, std::string& weights, const std::string& group = "");

/// Adds an option for each row that has none yet. Parsed words are set in `settings`, whose address must not change, as
/// the command-line layer.
void add_settings(CLI::App& app, Settings& settings);

}  // namespace voxshard
