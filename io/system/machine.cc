#include "io/system/machine.h"

#include <algorithm>

#include "io/system/memory_bounds.h"

namespace voxshard {

MachineFacts machine_facts(const std::filesystem::path& folder, const SystemView& system) {
  const auto bytes = [&](const char* key) {
    return number_behind(system.file("/proc/meminfo"), key).value_or(0) * 1024;
  };
  MachineFacts facts{
      .memory_bytes = bytes("MemTotal:"), .available_bytes = bytes("MemAvailable:"), .swap_bytes = bytes("SwapTotal:")};
  for (const MemoryBound& bound : memory_bounds(system)) {
    if (facts.memory_bytes == 0 || bound.limit_bytes < facts.memory_bytes)
      facts.memory_bytes = bound.limit_bytes, facts.memory_of = bound.of;
    if (facts.available_bytes > 0) facts.available_bytes = std::min(facts.available_bytes, bound.free_bytes);
  }
  const auto lines = lines_of(system.file("/sys/kernel/mm/transparent_hugepage/enabled"));  // "always [madvise] never"
  const std::string modes = lines.empty() ? "" : lines.front();
  const std::size_t open = modes.find('['), close = modes.find(']');
  if (open != std::string::npos && close > open) facts.huge_pages = modes.substr(open + 1, close - open - 1);
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  facts.free_disk_bytes = error ? -1 : static_cast<std::int64_t>(space.available);
  return facts;
}

}  // namespace voxshard
