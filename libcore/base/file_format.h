// The version of the files that this program writes and reads again: checkpoints, run.json, folder manifests and
// measured machine rates. Each states it under the key "format"; a file of any other version is refused.
//
//   format_problem("voxshard 1")   // "has the format \"voxshard 1\"; this program reads \"voxshard 2\" alone"
#pragma once

#include <string>
#include <string_view>

namespace voxshard {

inline constexpr std::string_view kFileFormat = "voxshard 2";

/// The reason why a file of this format cannot be read; empty when it can. A file without the key has an empty format.
std::string format_problem(std::string_view format);

}  // namespace voxshard
