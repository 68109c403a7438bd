#include "io/system/machine.h"

#include <fstream>
#include <sstream>


namespace voxshard {
namespace {

std::string first_line(const char* path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

/// The value of "key : value" in a file of such lines, as /proc has them; empty when there is none.
std::string value_in_lines(const char* path, const std::string& key) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.find_first_not_of(" \t", key.size()) != colon) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

std::int64_t kib_of(const std::string& key) {
  std::istringstream in(value_in_lines("/proc/meminfo", key));
  std::int64_t kib = 0;
  in >> kib;
  return kib * 1024;
}

/// The limit of a control group (version 2, then 1); 0 when there is none.
std::int64_t container_limit_bytes() {
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::istringstream in(first_line(path));
    std::int64_t bytes = 0;
    if (in >> bytes && bytes > 0) return bytes;
  }
  return 0;
}

}  // namespace

MachineFacts machine_facts(const std::filesystem::path& folder) {
  MachineFacts facts;
  facts.memory_bytes = kib_of("MemTotal");
  facts.available_bytes = kib_of("MemAvailable");
  facts.swap_bytes = kib_of("SwapTotal");
  const std::int64_t limit = container_limit_bytes();
  if (limit > 0 && (facts.memory_bytes == 0 || limit < facts.memory_bytes)) facts.memory_bytes = limit;
  const std::string modes = first_line("/sys/kernel/mm/transparent_hugepage/enabled");  // "always [madvise] never"
  const std::size_t open = modes.find('['), close = modes.find(']');
  if (open != std::string::npos && close > open) facts.huge_pages = modes.substr(open + 1, close - open - 1);
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  facts.free_disk_bytes = error ? -1 : static_cast<std::int64_t>(space.available);
  return facts;
}

}  // namespace voxshard
