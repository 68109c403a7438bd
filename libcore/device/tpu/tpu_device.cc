// Prices a program in lock step: each instruction begins when the slowest core has finished the previous one.
#include "libcore/device/tpu/tpu_device.h"

#include <algorithm>
#include <numeric>

#include "libcore/device/tpu/compute_price.h"
#include "libcore/device/tpu/feed_price.h"
#include "libcore/device/tpu/halo_passes.h"
#include "libcore/device/tpu/link_price.h"
#include "libcore/memory/tiles.h"

namespace voxshard {
namespace {

/// Two boxes of one tensor cost the same when their extents are equal and they touch the same borders (where the reads
/// are clipped). The batch axis has no windows.
struct BoxKind {
  Dims extent;
  unsigned borders = 0;
  friend bool operator==(const BoxKind&, const BoxKind&) = default;
};

BoxKind kind_of(const Box& box, const Shape& shape) {
  BoxKind kind{.extent = box.extent};
  for (int a = 1; a < box.axes(); ++a) {
    if (box.begin[a] == 0) kind.borders |= 1U << (2 * a);
    if (box.end(a) == shape[a]) kind.borders |= 2U << (2 * a);
  }
  return kind;
}

class Walk {
 public:
  Walk(const Program& program, const OpTable& ops, const TpuSpec& device, const Torus& torus)
      : program_(program),
        ops_(ops),
        device_(device),
        torus_(torus),
        exchanges_(device, torus),
        fusions_(device, program, ops),
        halos_(device, program, ops, fusions_) {}

  InstructionPrice price(const Instruction& instruction) {
    switch (instruction.kind) {
      case InstructionKind::kCompute:
        return with_passes(instruction, compute(instruction));
      case InstructionKind::kJoin:
        return join(instruction.value);
      case InstructionKind::kFillMargin:
        return {.slowest = fill_margin(instruction.value)};
      case InstructionKind::kExchange:
        return exchanges_.price(instruction.copies, device_bytes(program_.graph.node(instruction.value).type.dtype));
      case InstructionKind::kPack:
        break;  // weights are stored in the layout that the matrix unit reads
    }
    return {};
  }

 private:
  Price compute(const Instruction& instruction) const {
    const Node& node = program_.graph.node(instruction.value);
    const OpDef& def = ops_.at(node.op);
    const Shape& shape = def.driver < 0 ? node.type.shape : program_.graph.node(node.inputs[def.driver]).type.shape;
    std::vector<BoxKind> seen;
    Price slowest;
    for (const auto& blocks : instruction.blocks) {
      Box iteration = Box::none(shape.axes());  // blocks are tasks of a host; a TPU core runs them as one
      for (const Box& block : blocks) iteration = hull(iteration, block);
      if (iteration.empty()) continue;
      const BoxKind kind = kind_of(iteration, shape);
      if (std::find(seen.begin(), seen.end(), kind) != seen.end()) continue;
      seen.push_back(kind);
      const Price price = compute_price(device_, program_, ops_, fusions_, instruction.value, iteration);
      if (price.seconds() > slowest.seconds()) slowest = price;
    }
    return slowest;
  }

  InstructionPrice with_passes(const Instruction& instruction, Price slowest) {
    std::vector<Pass> passes = halos_.of(instruction, slowest);
    return {.slowest = slowest, .passes = std::move(passes)};
  }

  /// Prices a join. Replicated sums are added over all cores; others over the cores that hold the same box of the
  /// result.
  InstructionPrice join(ValueId id) const {
    const TensorType& type = program_.graph.node(id).type;
    const double element_bytes = static_cast<double>(device_bytes(type.dtype));
    std::vector<std::int64_t> all(static_cast<std::size_t>(torus_.cores()));
    std::iota(all.begin(), all.end(), 0);
    if (program_.replicated(id))
      return all_reduce_price(device_, torus_, all, static_cast<double>(element_count(type.shape)) * element_bytes);
    const auto& own = program_.plan(id).own;
    std::vector<bool> taken(own.size(), false);
    InstructionPrice total;
    for (std::size_t first = 0; first < own.size(); ++first) {
      if (taken[first] || own[first].empty()) continue;
      std::vector<std::int64_t> group;
      for (std::size_t core = first; core < own.size(); ++core) {
        if (taken[core] || !(own[core] == own[first])) continue;
        taken[core] = true;
        group.push_back(static_cast<std::int64_t>(core));
      }
      const InstructionPrice part =
          all_reduce_price(device_, torus_, group, static_cast<double>(own[first].count()) * element_bytes);
      if (part.slowest.seconds() > total.slowest.seconds()) total.slowest = part.slowest;
      total.bytes += part.bytes;
      total.messages += part.messages;
      total.hops = std::max(total.hops, part.hops);
    }
    return total;
  }

  Price fill_margin(ValueId id) const {
    const TensorType& type = program_.graph.node(id).type;
    const Box whole = Box::whole(type.shape);
    std::int64_t most = 0;
    for (const Box& held : program_.plan(id).held) most = std::max(most, held.count() - intersect(held, whole).count());
    return {.memory_s = static_cast<double>(most * device_bytes(type.dtype)) / device_.memory_bytes_s,
            .overhead_s = device_.dispatch_s};
  }

  const Program& program_;
  const OpTable& ops_;
  const TpuSpec& device_;
  const Torus& torus_;
  ExchangePricer exchanges_;
  Fusions fusions_;
  HaloPasses halos_;
};

}  // namespace

std::vector<std::int64_t> TpuDevice::slices() const {
  std::vector<std::int64_t> cores;
  for (const Slice& slice : spec_.slices) cores.push_back(slice.cores);
  return cores;
}

StepPrice TpuDevice::price(const Program& program, const OpTable& ops, const Feed& feed) const {
  const Placement placement{.replicas = program.mesh().replicas,
                            .cores_per_replica = program.mesh().cores_per_replica()};
  const Torus torus(spec_, placement);
  Walk walk(program, ops, spec_, torus);
  StepPrice step;
  step.instructions.reserve(program.instructions.size());
  for (const Instruction& instruction : program.instructions) {
    InstructionPrice price = walk.price(instruction);
    price.begin_s = step.device_s;
    step.device_s += price.slowest.seconds();
    price.end_s = step.device_s;
    step.busy += price.slowest;
    (instruction.kind == InstructionKind::kJoin ? step.all_reduce_bytes : step.halo_bytes) += price.bytes;
    step.messages += price.messages;
    step.widest_hops = std::max(step.widest_hops, price.hops);
    step.instructions.push_back(std::move(price));
  }
  const HostLoad load = host_load(torus, placement, feed);
  step.feeding_hosts = load.feeding_hosts;
  step.feed_s = feed_seconds(spec_, load);
  step.step_s = std::max(step.device_s, step.feed_s);
  return step;
}

}  // namespace voxshard
