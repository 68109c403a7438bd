#include "io/system/process_memory.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "io/system/memory_bounds.h"

namespace voxshard {
namespace {

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();

/// Returns the bytes after a key of /proc/self/status.
std::optional<std::int64_t> status_bytes(const SystemView& system, const char* key) {
  const auto kib = number_behind(system.file("/proc/self/status"), key);
  return kib ? std::optional(*kib * 1024) : std::nullopt;
}

/// Returns the bytes that a resource limit of the process leaves; `used`: bytes that count against it now.
std::int64_t limit_bytes(int resource, std::int64_t used) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return kUnknown;
  return static_cast<std::int64_t>(limit.rlim_cur) - used;
}

}  // namespace

std::int64_t resident_bytes() { return status_bytes({}, "VmRSS:").value_or(0); }

std::int64_t peak_resident_bytes() {
  if (const auto bytes = status_bytes({}, "VmHWM:")) return *bytes;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

PageFaults page_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return {.given = usage.ru_minflt, .read = usage.ru_majflt};
}

void return_freed_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);  // fixed: by default it grows to the largest freed block
  ::mallopt(M_TRIM_THRESHOLD, 1 << 20);
  ::mallopt(M_ARENA_MAX, 2);
}

void trim_freed_memory() { ::malloc_trim(0); }

std::int64_t available_memory_bytes(const SystemView& system) {
  const auto free_kib = number_behind(system.file("/proc/meminfo"), "MemAvailable:");
  std::int64_t least = std::min({free_kib ? *free_kib * 1024 : kUnknown,
                                 limit_bytes(RLIMIT_AS, status_bytes(system, "VmSize:").value_or(0)),
                                 limit_bytes(RLIMIT_DATA, status_bytes(system, "VmData:").value_or(0))});
  for (const MemoryBound& bound : memory_bounds(system)) least = std::min(least, bound.free_bytes);
  return least == kUnknown ? 0 : std::max<std::int64_t>(least / 10 * 9, 1);
}

}  // namespace voxshard
