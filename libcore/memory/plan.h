// Where every value lives, decided before the first step: one arena per core for what is cut, one process pool for what
// is replicated. A buffer's bytes are reused once its last reader has run.
//
//   MemoryPlan plan = plan_memory(program, ops, {});
//   plan.arenas[3].bytes     // what core 3 needs, to the byte
//
// The same plan in a TPU's bytes, where tensors are padded to tiles, tells whether a program fits a TPU core.
#pragma once

#include <string>
#include <vector>

#include "libcore/partition/program.h"

namespace voxshard {

/// Buffers begin at multiples of this (a cache line; also what AMX tile loads want).
inline constexpr std::int64_t kAlignment = 64;

/// In Buffer::partial: the packed weights of the op that computes the value. They live around it, from their packing
/// on.
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

/// What is said behind the name of its value: "", " (partial)", " (packed weights)".
const char* buffer_kind(const Buffer& buffer);

struct Pool {
  std::vector<Buffer> buffers;
  std::int64_t bytes = 0;

  const Buffer* find(ValueId value, std::int64_t partial = -1) const;
};

struct MemoryPlan {
  std::vector<Pool> arenas;       // per core
  Pool process;                   // replicated results: converted weights, weight gradients, statistics; packed weights
  std::int64_t packed_bytes = 0;  // of the process pool, what it has grown by for packed weights
  std::int64_t parameter_bytes = 0;  // parameters and states, held once per process
  std::int64_t trained_bytes = 0;    // of them parameters: an optimizer keeps tensors of their sizes
  bool tiled = false;
  std::int64_t guard_bytes = 0;  // behind each buffer, of nobody
};

struct MemoryOptions {
  bool keep_all = false;         // no reuse: every value can be looked at after the step
  bool tiled = false;            // bytes of a TPU (tiles.h) instead of this host's; asks no kernels
  std::int64_t guard_bytes = 0;  // left free behind each buffer, so that a write beside one can be seen
};

MemoryPlan plan_memory(const Program& program, const OpTable& ops, const MemoryOptions& options);

/// Gives packed weights (bytes per value, 0 for none) room in the process pool, each from its pack instruction to its
/// op: they take what gradients and converted weights do not hold then. Once per plan.
void plan_packed(MemoryPlan& plan, const Program& program, const std::vector<std::int64_t>& packed_bytes);

/// Every pair of buffers that are alive at once and overlap; empty when sound.
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
