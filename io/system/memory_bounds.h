// What bounds the memory of a job: its control group and all that it lies in (versions 1 and 2), which is how
// containers, systemd and, mostly, Slurm confine it; and where no group confines it, what Slurm granted.
//
//   job of Slurm, version 2:    /proc/self/cgroup "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0"
//                               job_7 has memory.max 4 GiB: the bound, though the four groups below say "max"
//   for (const MemoryBound& bound : memory_bounds()) least = std::min(least, bound.free_bytes);
#pragma once

#include "io/system/kernel_files.h"

namespace voxshard {

struct MemoryBound {
  std::string of;                // "control group /slurm/job_7"
  std::int64_t limit_bytes = 0;  // of all that it confines together
  std::int64_t free_bytes = 0;   // what is left of it; files that it has cached and does not use count as free
};

/// Every bound that is one, innermost first. Empty where nothing confines the job, or nothing tells.
std::vector<MemoryBound> memory_bounds(const SystemView& system = {});

}  // namespace voxshard
