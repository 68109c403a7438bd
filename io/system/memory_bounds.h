// The limits on the memory of a job: those of its control group and of all groups above it (versions 1 and 2), which
// containers, systemd and, mostly, Slurm use; where no group has a limit, the memory that Slurm granted.
//
//   job of Slurm, version 2:    /proc/self/cgroup "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0"
//                               job_7 has memory.max 4 GiB: the bound, though the four groups below say "max"
//   for (const MemoryBound& bound : memory_bounds()) least = std::min(least, bound.free_bytes);
#pragma once

#include "io/system/kernel_files.h"

namespace voxshard {

struct MemoryBound {
  std::string of;                // "control group /slurm/job_7"
  std::int64_t limit_bytes = 0;  // for all processes in the group together
  std::int64_t free_bytes = 0;   // the part that is not used; cached files that are not in use count as free
};

/// Returns all limits, innermost first. Empty when nothing limits the job, or when no limit can be read.
std::vector<MemoryBound> memory_bounds(const SystemView& system = {});

}  // namespace voxshard
