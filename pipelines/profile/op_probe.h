// One op on one block, prepared to be run repeatedly by every worker on its own memory, for the timings of `voxshard
// doctor`.
//
//   Probe probe = op_probe(op_table().at("leaky_relu"), {.inputs = {{DType::kF32, {1, 8, 8, 8, 16}}}});
//   ProbeMemory memory(probe.need);
//   probe.run(memory);                  // probe.work.bytes were moved
#pragma once

#include <functional>

#include "libcore/graph/op_def.h"

namespace voxshard {

/// Memory of one worker, reserved once for the largest probe: numbers about 1 in every float type, zeros, and scratch.
/// Only scratch is written, so probes can share it.
class ProbeMemory {
 public:
  struct Need {
    std::int64_t numbers_bytes = 0, zeros_bytes = 0, scratch_bytes = 0;
    void widen(const Need& other);
  };
  explicit ProbeMemory(const Need& need);
  std::byte* numbers() const { return numbers_.data(); }
  std::byte* zeros() const { return zeros_.data(); }
  std::byte* scratch() const { return scratch_.data(); }

 private:
  Tensor numbers_, zeros_, scratch_;
};

struct Probe {
  Work work;
  double pack_bytes = 0;  // bytes of plain weights, when the kernel reorders them
  ProbeMemory::Need need;
  std::function<void(const ProbeMemory&)> run;
  std::function<void(const ProbeMemory&)> pack;  // call once before run
};

/// Returns a probe with the fast kernels. Errors: kConfig when the inputs do not fit the op.
Probe op_probe(const OpDef& def, const OpUse& use);
/// Return probes that copy `bytes` into a margin in rows of `channels`, as exchanges do, or fill a margin with zeros.
Probe copy_probe(DType type, std::int64_t channels, std::int64_t bytes);
Probe fill_probe(DType type, std::int64_t channels, std::int64_t bytes);

}  // namespace voxshard
