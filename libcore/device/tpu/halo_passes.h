// The passes that XLA's SPMD partitioner inserts before an instruction whose operand is spread over several cores. Each
// is a separate operation over the core's whole part of the operand. The permutes that bring the edges are the
// program's exchanges, which overlap with nothing either (link_price.h). Each cut axis along which some core needs
// planes of its neighbours adds, one after the other and on the result of the previous axis:
//
//   concat   reads the part and its edges and writes them as one tensor
//   slice    reads and writes the extent of the window again, where cores need unequal edges (strides, uneven parts)
//   mask     reads and writes through a select on an index: zeros behind an uneven part and outside the tensor
//
// We assume that even parts are masked for plain zero padding too. Permutes bring zeros to the outermost cores anyway,
// and it is not known whether the original then omitted the select (TpuSpec::masks_padding; `bench tpu-tables` prints
// the rows without it).
//
// A value whose edges are sent has to be written first (materialise; fusion.h). The gradient of weights exchanges edges
// of the gradient of the result, not of the input, and multiplies with their planes too (window): (S + halo) / S times
// its products. Edges that an op has received for an operand are reused by the same op on that operand.
//
//   HaloPasses passes(device, program, ops, fusions);
//   passes.of(instruction, price)      // empty on programs of one core per replica
//
// Source: XLA, spmd_partitioner.cc ReshardAsWindowedInput, spmd_partitioner_util.cc ExchangeHaloAndGetValidData,
// convolution_handler.cc (halo on the right-hand side).
#pragma once

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "libcore/device/device.h"
#include "libcore/device/tpu/fusion.h"
#include "libcore/device/tpu/tpu_spec.h"

namespace voxshard {

class HaloPasses {
 public:
  HaloPasses(const TpuSpec& device, const Program& program, const OpTable& ops, const Fusions& fusions)
      : device_(device), program_(program), ops_(ops), fusions_(fusions) {}

  /// Returns the passes of a compute instruction; call it in program order. `price` is the cost of the instruction
  /// alone. Moves the memory traffic of a value that has lost its fusion from the price to the passes.
  std::vector<Pass> of(const Instruction& instruction, Price& price);

 private:
  /// The planes of an operand that cores need beyond their own parts, along one axis.
  struct Edge {
    int axis = 0;
    std::int64_t low = 0, high = 0;  // maximum over the cores
    bool unequal = false;            // not the same on every core
    bool masked = false;
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };
  struct Operand {
    Dims extent;  // of the largest part
    std::vector<Edge> edges;
  };
  Operand operand(const Instruction& instruction, int input) const;
  void add(std::vector<Pass>& passes, Pass::Kind kind, ValueId id, int axis, double bytes) const;
  void lower(std::vector<Pass>& passes, ValueId id, Operand operand) const;

  const TpuSpec& device_;
  const Program& program_;
  const OpTable& ops_;
  const Fusions& fusions_;
  std::set<std::tuple<ValueId, std::string, std::vector<Edge>>> brought_;
};

}  // namespace voxshard
