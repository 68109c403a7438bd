#include "libcore/base/budget_value.h"

#include <algorithm>

namespace voxshard {

std::string budget_value(std::int64_t bytes) {
  constexpr std::int64_t kMiB = 1 << 20;
  bytes = std::max<std::int64_t>(0, bytes);
  return std::to_string(bytes / kMiB + (bytes % kMiB > 0 ? 1 : 0)) + "MiB";
}

}  // namespace voxshard
