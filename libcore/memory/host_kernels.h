// The kernels of a program on this host, one per op that computes, shared by all its blocks, and the memory that they
// require: scratch per worker, and the bytes of packed weights. Not used by plans for a TPU.
#pragma once

#include <memory>
#include <vector>

#include "libcore/partition/program.h"

namespace voxshard {

/// The views of one block with null data: the inputs that it reads and the output that it writes.
struct BlockGeometry {
  std::vector<TensorView> inputs;
  TensorView output;
};

/// Views for block `block` of compute instruction `instruction` on `core` (0 for a replicated computation).
BlockGeometry block_geometry(const Program& program, const OpTable& ops, const Instruction& instruction,
                             std::size_t core, const Box& block);

struct HostKernels {
  struct Bound {
    std::unique_ptr<Kernel> kernel;    // null: not computed
    std::int64_t workspace_bytes = 0;  // for its widest block
  };
  std::vector<Bound> by_value;
  std::int64_t workspace_bytes = 0;  // per worker: the widest block of all
  ValueId widest = kNoValue;         // the value whose kernel needs it

  const Kernel& of(ValueId id) const { return *by_value[id].kernel; }
  std::int64_t packed_bytes(ValueId id) const;
  /// Returns the bytes of every value's packed weights, 0 for none.
  std::vector<std::int64_t> packed_bytes() const;
};

HostKernels bind_kernels(const Program& program, const OpTable& ops, KernelSet set);

}  // namespace voxshard
