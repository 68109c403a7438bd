// How much memory this process has resident, now and at its peak, and how much more it may take, from the kernel's own
// accounting.
#pragma once

#include <cstdint>

namespace voxshard {

/// Bytes resident now; 0 where /proc is not mounted.
std::int64_t resident_bytes();
/// The most that ever was resident.
std::int64_t peak_resident_bytes();

/// What this process may still take: the least of what the machine has free without swapping, what its container leaves
/// (files that are only cached count as free) and what its limits of address space and data leave (ulimit -v, -d). A
/// tenth of it is kept back for all else. 0 when nothing says.
std::int64_t available_memory_bytes();

}  // namespace voxshard
