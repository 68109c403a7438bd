// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace voxshard {

/// "1.50 GiB", "12.30 MiB", "17 bytes".
std::string bytes_text(std::int64_t bytes);

}  // namespace voxshard
