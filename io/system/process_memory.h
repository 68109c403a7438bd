// How much memory this process has resident, now and at its peak, from the kernel's own accounting.
#pragma once

#include <cstdint>

namespace voxshard {

/// Bytes resident now; 0 where /proc is not mounted.
std::int64_t resident_bytes();
/// The most that ever was resident.
std::int64_t peak_resident_bytes();

}  // namespace voxshard
