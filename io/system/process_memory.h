// The resident memory of this process, now and at its peak, and the memory that it may still take, from the kernel's
// own accounting.
#pragma once

#include <cstdint>

#include "io/system/kernel_files.h"

namespace voxshard {

/// Bytes resident now; 0 where /proc is not mounted.
std::int64_t resident_bytes();
/// Peak of the resident bytes: VmHWM of /proc/self/status (getrusage also counts the process that started this
/// program).
std::int64_t peak_resident_bytes();

/// Pages that the system gave to this process so far: without reading, as for fresh memory, and from a disk.
struct PageFaults {
  std::int64_t given = 0, read = 0;
};
PageFaults page_faults();

/// Makes glibc return blocks of 1 MiB and more to the system as soon as they are freed, and makes all threads share two
/// heaps for the rest. By default glibc keeps freed blocks of up to 32 MiB, in as many heaps as there are threads, so
/// that the memory of one case is still resident during the next. To be called at the start of a program.
void return_freed_memory();

/// Gives the system what is freed now, also small blocks between others that are in use.
void trim_freed_memory();

/// Returns the bytes that this process may still take: 9/10 of the lowest of the machine's free memory without
/// swapping, the rest of its control groups or of Slurm's grant (memory_bounds.h) and the rest of its limits on address
/// space and data (ulimit -v, -d). 0 when no limit is known.
std::int64_t available_memory_bytes(const SystemView& system = {});

}  // namespace voxshard
