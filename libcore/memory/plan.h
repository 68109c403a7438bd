// The place of every value in memory, decided before the first step: one arena per core for cut values, one process
// pool for replicated ones. A buffer's bytes are reused once its last reader has run.
//
//   MemoryPlan plan = plan_memory(program, ops, {});
//   plan.arenas[3].bytes     // the exact bytes of core 3
//
// The same plan in a TPU's bytes, where tensors are padded to tiles, shows whether a program fits a TPU core.
#pragma once

#include <string>
#include <vector>

#include "libcore/partition/program.h"

namespace voxshard {

/// Buffers begin at multiples of this (a cache line, which suits AMX tile loads too).
inline constexpr std::int64_t kAlignment = 64;

/// Value of Buffer::partial for the packed weights of the op that computes the value. They live from their packing to
/// that op.
inline constexpr std::int64_t kPackedWeights = -2;

struct Buffer {
  ValueId value = kNoValue;
  std::int64_t partial = -1;  // the block whose partial result this is; -1: the value itself; kPackedWeights
  Box box;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  int first = 0;  // instructions between which the buffer is alive, both included
  int last = 0;
};

/// The suffix after the name of a buffer's value: "", " (partial)", " (packed weights)".
const char* buffer_kind(const Buffer& buffer);

struct Pool {
  std::vector<Buffer> buffers;
  std::int64_t bytes = 0;

  const Buffer* find(ValueId value, std::int64_t partial = -1) const;
};

struct MemoryPlan {
  std::vector<Pool> arenas;       // per core
  Pool process;                   // replicated results: converted weights, weight gradients, statistics; packed weights
  std::int64_t packed_bytes = 0;  // growth of the process pool due to packed weights
  std::int64_t parameter_bytes = 0;  // parameters and states, held once per process
  std::int64_t trained_bytes = 0;    // parameters alone: an optimizer keeps tensors of their sizes
  bool tiled = false;
  std::int64_t guard_bytes = 0;  // unused bytes behind each buffer
};

struct MemoryOptions {
  bool keep_all = false;         // no reuse: every value can be looked at after the step
  bool tiled = false;            // bytes of a TPU (tiles.h) instead of this host's; uses no kernels
  std::int64_t guard_bytes = 0;  // left free behind each buffer, so that a write beyond one can be detected
};

MemoryPlan plan_memory(const Program& program, const OpTable& ops, const MemoryOptions& options);

/// Places packed weights (bytes per value, 0 for none) in the process pool, each from its pack instruction to its op,
/// where gradients and converted weights leave room at that time. Call once per plan.
void plan_packed(MemoryPlan& plan, const Program& program, const std::vector<std::int64_t>& packed_bytes);

/// Returns every pair of buffers that are alive at once and overlap; empty for a valid plan.
std::vector<std::string> verify(const MemoryPlan& plan);

/// The `count` largest allocations of one core (its arena and the process pool), one line each: layer, shape, bytes.
struct Allocation {
  std::string layer;
  TensorType type;
  Box box;
  std::int64_t bytes = 0;           // with margins and alignment, or padded to tiles
  std::int64_t unpadded_bytes = 0;  // the owned box alone
  double expansion() const {
    return static_cast<double>(bytes) / static_cast<double>(unpadded_bytes > 0 ? unpadded_bytes : bytes);
  }
};
std::vector<Allocation> largest_allocations(const Program& program, const MemoryPlan& plan, std::size_t core,
                                            std::size_t count);

std::string to_text(const Program& program, const MemoryPlan& plan);

}  // namespace voxshard
