// A line of a config file about input_partition_dims that its parser refused, as it should be written: the example of
// the original's documentation has a bracket too many, and None is neither TOML nor JSON (in YAML it is a word).
//
//   mended_dims_line("input_partition_dims=[[1, 4, 1, 1], None]]", ConfigForm::kToml)
//   -> "input_partition_dims = [[1, 4, 1, 1], \"None\"]"
#pragma once

#include <optional>
#include <string>

namespace voxshard {

enum class ConfigForm { kToml, kJson, kYaml };

/// The line in that form; nullopt when its value is right already, or no value can be made out.
std::optional<std::string> mended_dims_line(const std::string& line, ConfigForm form);

}  // namespace voxshard
