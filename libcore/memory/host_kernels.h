// The kernels of a program on this host, and what they ask for: scratch per worker and reordered copies of weights.
// A plan for a TPU never comes here.
#pragma once

#include <memory>
#include <vector>

#include "libcore/partition/program.h"

namespace voxshard {

/// The views of one block: what is read of each input and what is written, with null data.
struct BlockGeometry {
  std::vector<TensorView> inputs;
  TensorView output;
};

/// Views for block `block` of compute instruction `instruction` on `core` (0 for a replicated computation).
BlockGeometry block_geometry(const Program& program, const OpTable& ops, const Instruction& instruction, std::size_t core,
                             const Box& block);

struct HostKernels {
  std::vector<std::unique_ptr<Kernel>> by_instruction;  // null where the instruction computes nothing
  std::vector<std::int64_t> packed_bytes;               // per instruction
  std::int64_t workspace_bytes = 0;                     // per worker: the widest block
  ValueId widest = kNoValue;                            // who asks for it

  std::int64_t total_packed_bytes() const;
};

HostKernels bind_kernels(const Program& program, const OpTable& ops, KernelSet set);

}  // namespace voxshard
