// How much memory this process has resident, now and at its peak, and how much more it may take, from the kernel's own
// accounting.
#pragma once

#include <cstdint>

#include "io/system/kernel_files.h"

namespace voxshard {

/// Bytes resident now; 0 where /proc is not mounted.
std::int64_t resident_bytes();
/// The most that ever was resident: VmHWM of /proc/self/status (getrusage also counts what started this program).
std::int64_t peak_resident_bytes();

/// Has blocks of a MiB and more given back to the system as soon as they are freed, and threads share two heaps for the
/// rest. By itself glibc keeps freed blocks of up to 32 MiB, in as many heaps as there are threads, and what was
/// planned for one case is resident beside the next. For the start of a program.
void return_freed_memory();

/// What this process may still take: the least of what the machine has free without swapping, what its control groups
/// or Slurm leave (memory_bounds.h) and what its limits of address space and data leave (ulimit -v, -d). A tenth of it
/// is kept back for all else. 0 when nothing says.
std::int64_t available_memory_bytes(const SystemView& system = {});

}  // namespace voxshard
