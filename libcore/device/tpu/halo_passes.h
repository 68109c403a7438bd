// What XLA's SPMD partitioner puts in front of an instruction whose operand lies on several cores, each an operation of
// its own over the core's whole part of the operand. The permutes that bring the edges are the program's exchanges,
// which nothing hides either (link_price.h). For each cut axis along which some core needs its neighbours' planes, one
// after the other, on what the axis before left:
//
//   concat   the part and its edges are read and written as one tensor
//   slice    read and written again as far as the window reaches, where cores need unequal edges (strides, uneven
//   parts) mask     read and written by a select on an index: zeros behind an uneven part and outside the tensor
//
// That even parts are masked for plain zero padding too is assumed: permutes bring zeros to the outermost cores anyway,
// and whether the original's select was then left out is not known (TpuSpec::masks_padding; `bench tpu-tables` prints
// the rows without it).
//
// A value whose edges are sent has to be written first (materialise; fusion.h). The gradient of weights has its edges
// on the gradient of the result, not on the input, and multiplies with their planes too (window): (S + halo) / S of its
// products. What an op has brought for an operand once serves the same op on it again.
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

  /// Those of a compute instruction, to be asked for in program order; `price` is what it costs by itself. Moves the
  /// memory traffic of a value that has lost its fusion from the price to the passes.
  std::vector<Pass> of(const Instruction& instruction, Price& price);

 private:
  /// What the cores need of an operand beyond their own parts, along one axis.
  struct Edge {
    int axis = 0;
    std::int64_t low = 0, high = 0;  // the most of any core
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
