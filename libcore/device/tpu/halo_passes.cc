#include "libcore/device/tpu/halo_passes.h"

#include <algorithm>

namespace voxshard {
namespace {

Box iteration_of(const Instruction& instruction, std::size_t core, int axes) {
  Box iteration = Box::none(axes);
  for (const Box& block : instruction.blocks[core]) iteration = hull(iteration, block);
  return iteration;
}

}  // namespace

HaloPasses::Operand HaloPasses::operand(const Instruction& instruction, int input) const {
  const Node& node = program_.graph.node(instruction.value);
  const ValueId id = node.inputs[input];
  const OpDef& def = ops_.at(node.op);
  const auto types = program_.graph.input_types(instruction.value);
  const OpContext op{node.attrs, types, node.type};
  const Shape& shape = types[input].shape;
  const int iterated = def.driver < 0 ? node.type.shape.axes() : types[def.driver].shape.axes();
  const auto& own = program_.plan(id).own;
  // All replicas have the same boxes, so the cores of the first one suffice.
  const std::size_t cores =
      std::min({own.size(), instruction.blocks.size(), static_cast<std::size_t>(program_.mesh().cores_per_replica())});
  Operand result{.extent = Dims::filled(shape.axes(), 0)};
  for (int axis = 1; axis + 1 < shape.axes(); ++axis) {
    Edge edge{.axis = axis};
    bool first = true, beyond = false;
    std::int64_t low = 0, high = 0, extent = 0;
    for (std::size_t core = 0; core < cores; ++core) {
      const Box iteration = iteration_of(instruction, core, iterated);
      if (own[core].empty() || iteration.empty()) continue;
      const Box need = needed_box(def, op, input, iteration);
      const std::int64_t core_low = own[core].begin[axis] - need.begin[axis],
                         core_high = need.end(axis) - own[core].end(axis);
      beyond =
          beyond || (core_low > 0 && own[core].begin[axis] > 0) || (core_high > 0 && own[core].end(axis) < shape[axis]);
      if (device_.masks_padding && (need.begin[axis] < 0 || need.end(axis) > shape[axis])) edge.masked = true;
      if (!first && (core_low != low || core_high != high)) edge.unequal = true;
      if (!first && own[core].extent[axis] != extent) edge.masked = true;
      low = core_low, high = core_high, extent = own[core].extent[axis], first = false;
      edge.low = std::max(edge.low, core_low), edge.high = std::max(edge.high, core_high);
      result.extent[axis] = std::max(result.extent[axis], own[core].extent[axis]);
      result.extent[0] = std::max(result.extent[0], own[core].extent[0]);
    }
    if (beyond) result.edges.push_back(edge);
  }
  result.extent[shape.axes() - 1] = shape.back();
  return result;
}

void HaloPasses::add(std::vector<Pass>& passes, Pass::Kind kind, ValueId id, int axis, double bytes) const {
  passes.push_back({.kind = kind,
                    .operand = id,
                    .axis = axis,
                    .bytes = bytes,
                    .seconds = bytes / device_.pass_bytes_s + device_.dispatch_s});
}

void HaloPasses::lower(std::vector<Pass>& passes, ValueId id, Operand operand) const {
  for (const Edge& edge : operand.edges) {
    const double part = layout_bytes(device_, program_, id, operand.extent);
    const std::int64_t window = operand.extent[edge.axis] + edge.low + edge.high;
    operand.extent[edge.axis] = window;
    const double wide = layout_bytes(device_, program_, id, operand.extent);
    add(passes, Pass::Kind::kConcat, id, edge.axis, part + wide);
    if (edge.unequal) add(passes, Pass::Kind::kSlice, id, edge.axis, 2 * wide);
    if (edge.masked) add(passes, Pass::Kind::kMask, id, edge.axis, 2 * wide);
  }
}

std::vector<Pass> HaloPasses::of(const Instruction& instruction, Price& price) {
  std::vector<Pass> passes;
  const Node& node = program_.graph.node(instruction.value);
  if (fusions_.lost(instruction.value)) {
    add(passes, Pass::Kind::kMaterialise, instruction.value, 0, price.memory_s * device_.memory_bytes_s);
    price.memory_s = 0;
  }
  const int driver = ops_.at(node.op).driver;
  for (int input = 0; input < static_cast<int>(node.inputs.size()); ++input) {
    ValueId id = node.inputs[input];
    if (program_.replicated(id) || !fusions_.exchanged(id) || program_.graph.node(id).type.shape.axes() < 4) continue;
    Operand from = operand(instruction, input);
    if (from.edges.empty()) continue;
    if (driver >= 0 && driver != input) {  // a sum over shards: the edges of the other operand are exchanged
      const Operand other = operand(instruction, driver);
      double wider = 1;
      for (Edge& edge : from.edges) {
        const std::int64_t stride =
            std::max<std::int64_t>(1, from.extent[edge.axis] / std::max<std::int64_t>(1, other.extent[edge.axis]));
        edge.low = ceil_div(edge.low, stride), edge.high = ceil_div(edge.high, stride);
        wider *= 1 + static_cast<double>(edge.low + edge.high) /
                         static_cast<double>(std::max<std::int64_t>(1, other.extent[edge.axis]));
      }
      passes.push_back({.kind = Pass::Kind::kWindow,
                        .operand = id,
                        .axis = from.edges.front().axis,
                        .seconds = (wider - 1) * price.matrix_s});
      from.extent = other.extent;
      id = node.inputs[driver];
    }
    if (brought_.insert({id, node.op, from.edges}).second) lower(passes, id, std::move(from));
  }
  for (const Pass& pass : passes) price.pass_s += pass.seconds;
  return passes;
}

}  // namespace voxshard
