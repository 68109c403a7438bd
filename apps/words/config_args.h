// What --config says, as words of the command line that is about to be parsed. Keys are the long names of options; a
// section named after a subcommand holds for that subcommand only; what stands on the command line wins.
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

/// What a config file holds. Errors: kConfig; where a line about input_partition_dims is refused, with the line as it
/// should be written.
nlohmann::json config_json(const std::string& path);

/// What a config file says to the options of a subcommand, by their long names.
using ConfigValues = std::vector<std::pair<std::string, std::string>>;

/// The values for `subcommand`, an App below `root`, leaving out options that are in `command_line`, or that exclude
/// one there. The original's names of TPUConfig and its section tpu_config have been dealt with before
/// (pipelines/settings/original_keys.h). Errors: kConfig for a key that no subcommand knows (names the nearest one), a
/// key in a section that its subcommand does not know, or a value that is no number, text, boolean or list of them.
ConfigValues config_values(const nlohmann::json& config, const CLI::App& root, const std::string& subcommand,
                           const std::vector<std::string>& command_line);
/// The same as words of the command line: {"--spacing=2,2,3"}.
std::vector<std::string> words_of(const ConfigValues& values);

}  // namespace voxshard
