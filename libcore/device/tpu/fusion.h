// The values of a program that never reach memory. A value computed element by element from at most
// TpuSpec::fused_tensors tensors (2; assumed) is recomputed by each of its readers as it reads, as XLA fuses it into a
// convolution or a loop. A value whose edges are sent to neighbours has to be written, so the cut loses the fusion.
//
//   const Fusions fusions(device, program, ops);
//   fusions.fused(program.graph.find("encoder0/conv0/norm"))    // true on one core, false where D is cut
#pragma once

#include <vector>

#include "libcore/device/device.h"
#include "libcore/device/tpu/tpu_spec.h"

namespace voxshard {

class Fusions {
 public:
  Fusions(const TpuSpec& device, const Program& program, const OpTable& ops);

  /// True when its readers compute it; it costs nothing by itself.
  bool fused(ValueId id) const { return at(id).fused; }
  /// True when only an exchange of its edges keeps it from being fused.
  bool lost(ValueId id) const { return at(id).lost; }
  /// True when cores send parts of it to each other.
  bool exchanged(ValueId id) const { return at(id).exchanged; }
  /// Returns the bytes of memory that a reader of `box` of value `id` touches, in the layout of products; the part of
  /// the box outside the tensor is not read.
  double read_bytes(ValueId id, const Box& box) const;

 private:
  struct Value {
    bool fused = false, lost = false, exchanged = false;
    std::int64_t tensors = 1;  // number of tensors that its reader reads
  };
  const Value& at(ValueId id) const { return values_[id]; }

  const TpuSpec& device_;
  const Program& program_;
  const OpTable& ops_;
  std::vector<Value> values_;
};

/// Returns the bytes of a box of value `id`: activations in the layout of products, inputs from the hosts and
/// replicated values in the smallest tiles.
double layout_bytes(const TpuSpec& device, const Program& program, ValueId id, const Dims& extent);

}  // namespace voxshard
