// A line of a config file about input_partition_dims that its parser refused, as it should be written: the example of
// the original's documentation has a bracket too many, and None is neither TOML nor JSON.
//
//   mended_dims_line("input_partition_dims=[[1, 4, 1, 1], None]]", false)
//   -> "input_partition_dims = [[1, 4, 1, 1], \"None\"]"
#pragma once

#include <optional>
#include <string>

namespace voxshard {

/// The line in TOML or in JSON; nullopt when its value is right already, or no value can be made out.
std::optional<std::string> mended_dims_line(const std::string& line, bool json);

}  // namespace voxshard
