// Corrects a line of a config file with input_partition_dims that the parser refused: the example in the original's
// documentation has a bracket too many, and None is neither TOML nor JSON (in YAML it is a word).
//
//   mended_dims_line("input_partition_dims=[[1, 4, 1, 1], None]]", ConfigForm::kToml)
//   -> "input_partition_dims = [[1, 4, 1, 1], \"None\"]"
#pragma once

#include <optional>
#include <string>

namespace voxshard {

enum class ConfigForm { kToml, kJson, kYaml };

/// Returns the corrected line in that form; nullopt when its value is valid already, or no value can be recognised.
std::optional<std::string> mended_dims_line(const std::string& line, ConfigForm form);

}  // namespace voxshard
