// Converts the file of --config to words of the command line before it is parsed. Keys are the long names of options; a
// section named after a subcommand holds for that subcommand only; options on the command line take precedence.
//
//   seed = 3                      # every subcommand that has --seed
//   [prepare]
//   spacing = [2, 2, 3]           # becomes --spacing=2,2,3
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace voxshard {

/// Returns the content of a config file. Errors: kConfig; for a refused line of input_partition_dims with the line as
/// it should be written.
nlohmann::json config_json(const std::string& path);

/// The values of a config file for the options of a subcommand, by their long names.
using ConfigValues = std::vector<std::pair<std::string, std::string>>;

/// Returns the values for `subcommand`, an App below `root`, without options that are in `command_line` or exclude one
/// there. The original's TPUConfig names and its section tpu_config are converted beforehand
/// (pipelines/settings/original_keys.h). Errors: kConfig for a key that no subcommand has (with the nearest one), a key
/// in a section that its subcommand does not have, or a value that is no number, text, boolean or list of them.
ConfigValues config_values(const nlohmann::json& config, const CLI::App& root, const std::string& subcommand,
                           const std::vector<std::string>& command_line);
/// Returns the values as words of the command line: {"--spacing=2,2,3"}.
std::vector<std::string> words_of(const ConfigValues& values);

}  // namespace voxshard
