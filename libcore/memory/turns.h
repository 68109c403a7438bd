// Cores that take turns in memory. Where all arenas together exceed a budget they lie in a file, and only those of the
// cores at work are in memory: a segment runs core after core, and a core's pages leave memory when it has ended its
// part of the segment. The program is the same, and so is every bit of its results.
//
//   Turns turns = turns_of(program, memory, 2, {0, 64});   // of a process that hosts all of 64 cores
//   turns.resident_bytes   // 412 MiB at any time
//   turns.file_bytes       // 38 GiB on disk
#pragma once

#include "libcore/memory/plan.h"

namespace voxshard {

struct Turns {
  std::int64_t resident_bytes = 0;  // the most bytes of arenas that are in memory at a time
  std::int64_t file_bytes = 0;      // the file that holds these arenas, one after another
};

/// Returns the size of an arena in the file: rounded up to 64 KiB, at least the page of any system that we know.
std::int64_t bytes_in_file(std::int64_t arena_bytes);

/// Returns what turns of `workers` threads take in a process: in a segment an arena for each worker; in an exchange,
/// for each worker, the buffers that one piece is copied from and to; in a join the partial results of its cores.
///   hosted  its cores: from the first on, up to the second
Turns turns_of(const Program& program, const MemoryPlan& memory, int workers, const Interval& hosted);

}  // namespace voxshard
