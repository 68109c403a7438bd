#include "io/system/process_memory.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace voxshard {

std::int64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  in >> total >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

namespace {

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();

/// The number behind `key` in a file of lines "key number ..."; without a key the file's first number.
std::int64_t number_of(const std::string& path, const std::string& key) {
  std::ifstream in(path);
  std::int64_t value = 0;
  if (key.empty()) return in >> value ? value : kUnknown;
  for (std::string word; in >> word; in.ignore(std::numeric_limits<std::streamsize>::max(), '\n'))
    if (word == key) return in >> value ? value : kUnknown;
  return kUnknown;
}

/// What a control group of version 2 leaves, at the place where a container sees its own.
std::int64_t container_bytes() {
  const std::int64_t limit = number_of("/sys/fs/cgroup/memory.max", "");
  const std::int64_t used = number_of("/sys/fs/cgroup/memory.current", "");
  const std::int64_t cached = number_of("/sys/fs/cgroup/memory.stat", "file");
  return limit == kUnknown || used == kUnknown ? kUnknown : limit - used + (cached == kUnknown ? 0 : cached);
}

/// What a limit of the process leaves; `pages`: what counts against it now.
std::int64_t limit_bytes(int resource, std::int64_t pages) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return kUnknown;
  return static_cast<std::int64_t>(limit.rlim_cur) - pages * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

std::int64_t peak_resident_bytes() {
  if (const std::int64_t kib = number_of("/proc/self/status", "VmHWM:"); kib != kUnknown) return kib * 1024;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

void return_freed_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);  // fixed: without this it grows to the largest block that was freed
  ::mallopt(M_TRIM_THRESHOLD, 1 << 20);
  ::mallopt(M_ARENA_MAX, 2);
}

std::int64_t available_memory_bytes() {
  std::ifstream in("/proc/self/statm");
  std::int64_t total = 0, resident = 0, shared = 0, text = 0, library = 0, data = 0;
  in >> total >> resident >> shared >> text >> library >> data;
  const std::int64_t free_kib = number_of("/proc/meminfo", "MemAvailable:");
  const std::int64_t least = std::min({free_kib == kUnknown ? kUnknown : free_kib * 1024, container_bytes(),
                                       limit_bytes(RLIMIT_AS, total), limit_bytes(RLIMIT_DATA, data)});
  return least == kUnknown ? 0 : std::max<std::int64_t>(least / 10 * 9, 1);
}

}  // namespace voxshard
