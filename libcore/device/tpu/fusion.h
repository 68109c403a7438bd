// Which values of a program never reach memory: what is computed element by element from at most
// TpuSpec::fused_tensors tensors (2; assumed) is made again by each of its readers on the way in, as XLA fuses it into
// a convolution or a loop. A value whose edges are sent to neighbours has to be written: there the cut costs the
// fusion.
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

  /// Made by its readers; costs nothing by itself.
  bool fused(ValueId id) const { return at(id).fused; }
  /// Would be fused, were it not for an exchange of its edges.
  bool lost(ValueId id) const { return at(id).lost; }
  /// Whether cores send parts of it to each other.
  bool exchanged(ValueId id) const { return at(id).exchanged; }
  /// Bytes in memory that a reader of `box` of value `id` touches, in the layout of products; what is outside the
  /// tensor is not read.
  double read_bytes(ValueId id, const Box& box) const;

 private:
  struct Value {
    bool fused = false, lost = false, exchanged = false;
    std::int64_t tensors = 1;  // that a reader of it reads
  };
  const Value& at(ValueId id) const { return values_[static_cast<std::size_t>(id)]; }

  const TpuSpec& device_;
  const Program& program_;
  const OpTable& ops_;
  std::vector<Value> values_;
};

/// Bytes of a box of value `id`: activations in the layout of products; what comes from the hosts and what is
/// replicated in the smallest tiles.
double layout_bytes(const TpuSpec& device, const Program& program, ValueId id, const Dims& extent);

}  // namespace voxshard
