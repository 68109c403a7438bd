// Numbers of bytes as the options for budgets take them, for refusals that name a value that would do.
//
//   "raise {host-memory} to " + budget_value(115'000'000)     // "raise {host-memory} to 110MiB"
#pragma once

#include <cstdint>
#include <string>

namespace voxshard {

/// Returns the fewest whole MiB that are at least so many bytes: "111MiB".
std::string budget_value(std::int64_t bytes);

}  // namespace voxshard
