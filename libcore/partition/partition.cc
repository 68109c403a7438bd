// The partition pass: layouts, then the boxes that each reader needs, then instructions. There are no special cases per
// op here.
#include <algorithm>
#include <cmath>

#include "libcore/partition/program.h"

namespace voxshard {
namespace {

// The target is about this many blocks over all cores: enough for the workers of a large machine, few enough that each
// is worth a task. Both are constants, so that results never depend on the number of workers.
constexpr std::int64_t kBlocksOverAllCores = 16;
constexpr std::int64_t kPartialsOverAllCores = 4;  // each partial result costs memory
constexpr double kFlopsPerBlock = 2.5e8;
constexpr double kBytesPerBlock = 1 << 20;

std::int64_t wished_blocks(const Work& work, std::int64_t cores, bool partial) {
  const std::int64_t most = ceil_div(partial ? kPartialsOverAllCores : kBlocksOverAllCores, cores);
  const double worth = std::max(work.flops / kFlopsPerBlock, work.bytes / kBytesPerBlock);
  std::int64_t count = 1;
  while (count < most && static_cast<double>(2 * count) <= worth) count *= 2;
  return count;
}

/// Splits a box into one block per slice of the channels; the box has all channels.
std::vector<Box> split_channels(const Box& box, std::int64_t slices) {
  std::vector<Box> blocks;
  const int last = box.axes() - 1;
  const std::int64_t width = box.extent[last] / slices;
  for (std::int64_t s = 0; s < slices && !box.empty(); ++s) {
    blocks.push_back(box);
    blocks.back().set(last, s * width, (s + 1) * width);
  }
  return blocks;
}

void add_compute(Program& program, const OpTable& ops, ValueId id) {
  const Node& node = program.graph.node(id);
  const OpDef& def = ops.at(node.op);
  const auto types = program.graph.input_types(id);
  const OpContext op{node.attrs, types, node.type};
  if (def.packed != nullptr) program.instructions.push_back({.kind = InstructionKind::kPack, .value = id});
  Instruction compute{.kind = InstructionKind::kCompute, .value = id};
  const bool contracts_cut = def.driver >= 0 && !program.replicated(node.inputs[def.driver]);
  if (program.replicated(id) && !contracts_cut) {
    const Box iteration = def.driver >= 0 ? Box::whole(types[def.driver].shape) : Box::whole(node.type.shape);
    compute.blocks.push_back({iteration});
    program.instructions.push_back(std::move(compute));
    return;
  }
  compute.partial = contracts_cut;
  const auto boxes = iteration_boxes(program, ops, id);
  Work most;
  for (const Box& box : boxes) {
    const Work work = work_of(def, op, box);
    most = {std::max(most.flops, work.flops), std::max(most.bytes, work.bytes)};
  }
  const std::int64_t wish = wished_blocks(most, program.mesh().cores(), compute.partial);
  const std::int64_t slices = slices_of(def, op);
  for (const Box& box : boxes)
    compute.blocks.push_back(slices > 1 ? split_channels(box, slices) : split_blocks(box, wish, grain_of(def, op)));
  program.instructions.push_back(std::move(compute));
  if (contracts_cut) program.instructions.push_back({.kind = InstructionKind::kJoin, .value = id});
}

/// The parts along axis `a` of `layout` that meet [begin, end), each interval once (by its lowest part).
std::vector<std::int64_t> parts_with(const Layout& layout, int a, std::int64_t begin, std::int64_t end) {
  const auto& axis = layout.axes[a];
  std::vector<std::int64_t> parts;
  for (std::size_t p = 0; p < axis.size(); ++p) {
    const bool meets = axis[p].first < end && axis[p].second > begin && axis[p].first < axis[p].second;
    if (meets && (parts.empty() || axis[parts.back()] != axis[p])) parts.push_back(static_cast<std::int64_t>(p));
  }
  return parts;
}

/// The copies that fill the parts of `held` boxes that other cores own. Replicas of a box are read from the lowest
/// core.
std::vector<Copy> exchange_copies(const ValuePlan& plan, const Mesh& mesh, const Shape& shape) {
  std::vector<Copy> copies;
  const Layout& layout = plan.layout;
  const Mesh parts_of_axes = layout.over(mesh);
  for (std::size_t to = 0; to < plan.own.size(); ++to) {
    const Box wanted = intersect(plan.held[to], Box::whole(shape));
    if (wanted.empty() || plan.own[to].contains(wanted)) continue;
    // The owners of a box are a product of parts per axis, so few cores are visited.
    std::vector<std::int64_t> owners{0};
    for (int a = 0; a < mesh.partition.axes(); ++a) {
      const bool cut = a < static_cast<int>(layout.axes.size());
      const auto parts = cut ? parts_with(layout, a, wanted.begin[a], wanted.end(a)) : std::vector<std::int64_t>{0};
      std::vector<std::int64_t> finer;
      for (std::int64_t owner : owners)
        for (std::int64_t part : parts) finer.push_back(owner * parts_of_axes.parts(a) + part);
      owners = std::move(finer);
    }
    for (std::int64_t from : owners) {
      const Box& own = plan.own[from];
      if (own == plan.own[to]) continue;
      copies.push_back({from, static_cast<std::int64_t>(to), intersect(wanted, own)});
    }
  }
  return copies;
}

void add_margins(Program& program, ValueId id) {
  const ValuePlan& plan = program.plan(id);
  if (plan.layout.replicated) return;
  const Shape& shape = program.graph.node(id).type.shape;
  const bool outside = std::any_of(plan.held.begin(), plan.held.end(),
                                   [&](const Box& held) { return !Box::whole(shape).contains(held); });
  if (outside) program.instructions.push_back({.kind = InstructionKind::kFillMargin, .value = id});
  auto copies = exchange_copies(plan, program.mesh(), shape);
  if (!copies.empty())
    program.instructions.push_back({.kind = InstructionKind::kExchange, .value = id, .copies = std::move(copies)});
}

/// Widens the boxes that cores hold of each input by those that the blocks of node `id` read.
void add_needs(Program& program, const OpTable& ops, ValueId id) {
  const Node& node = program.graph.node(id);
  const OpDef& def = ops.at(node.op);
  const auto types = program.graph.input_types(id);
  const OpContext op{node.attrs, types, node.type};
  const auto boxes = iteration_boxes(program, ops, id);
  for (int slot = 0; slot < static_cast<int>(node.inputs.size()); ++slot) {
    ValuePlan& plan = program.values[static_cast<std::size_t>(node.inputs[slot])];
    if (plan.layout.replicated) continue;
    for (std::size_t core = 0; core < boxes.size(); ++core)
      plan.held[core] = hull(plan.held[core], needed_box(def, op, slot, boxes[core]));
  }
}

bool reads_only_parameters(const Graph& graph, const OpTable& ops, ValueId id) {
  const Node& node = graph.node(id);
  return node.role == Role::kOp && !node.inputs.empty() && ops.at(node.op).packed == nullptr &&
         std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId i) {
           return graph.node(i).role == Role::kParameter || graph.node(i).role == Role::kState;
         });
}

}  // namespace

std::vector<Box> split_blocks(const Box& box, std::int64_t count, const Dims& grain) {
  if (box.empty()) return {};
  std::vector<Box> blocks{box};
  // Samples are kept whole first; a block may hold several samples of a large batch.
  for (int axis = 0; axis < box.axes() - 1 && static_cast<std::int64_t>(blocks.size()) < count; ++axis) {
    if (box.extent[axis] <= 1) continue;
    const std::int64_t more = ceil_div(count, static_cast<std::int64_t>(blocks.size()));
    const std::int64_t parts = std::min(more, box.extent[axis]);
    std::vector<Box> finer;
    for (const Box& block : blocks) {
      for (std::int64_t p = 0; p < parts; ++p) {
        // The ends of the box stay; boundaries between them move down to a multiple of the grain.
        auto boundary = [&](std::int64_t part) {
          const std::int64_t at = block.begin[axis] + part * block.extent[axis] / parts;
          const std::int64_t step = grain.empty() ? 1 : grain[axis];
          return part == parts ? at : std::max(block.begin[axis], at / step * step);
        };
        Box piece = block;
        piece.set(axis, boundary(p), boundary(p + 1));
        if (!piece.empty()) finer.push_back(piece);
      }
    }
    blocks = std::move(finer);
    if (axis > 0) break;  // a second cut spatial axis would leave blocks that are not dense
  }
  return blocks;
}

bool needs_join(const Instruction& compute) {
  std::size_t partials = 0;
  for (const auto& blocks : compute.blocks) partials += blocks.size();
  return partials > 1;
}

std::vector<Box> iteration_boxes(const Program& program, const OpTable& ops, ValueId id) {
  const Node& node = program.graph.node(id);
  const OpDef& def = ops.at(node.op);
  const auto cores = static_cast<std::size_t>(program.mesh().cores());
  const ValueId over = def.driver >= 0 ? node.inputs[def.driver] : id;
  const Shape& shape = program.graph.node(over).type.shape;
  std::vector<Box> boxes(cores, Box::none(shape.axes()));
  if (program.replicated(over)) {
    boxes[0] = Box::whole(shape);
    return boxes;
  }
  boxes = program.plan(over).own;
  if (def.driver < 0) return boxes;
  for (std::size_t c = 0; c < cores; ++c)
    if (std::find(boxes.begin(), boxes.begin() + static_cast<std::ptrdiff_t>(c), boxes[c]) !=
        boxes.begin() + static_cast<std::ptrdiff_t>(c))
      boxes[c] = Box::none(shape.axes());
  return boxes;
}

Program partition(Graph graph, const OpTable& ops, const Cut& cut) {
  Program program{.graph = std::move(graph), .cut = cut};
  Layouts layouts = propagate(program.graph, ops, cut);
  for (ValueId id = 0; id < program.graph.size(); ++id) {
    const Shape& shape = program.graph.node(id).type.shape;
    const auto at = static_cast<std::size_t>(id);
    ValuePlan plan{.layout = std::move(layouts.layouts[at]), .reason = layouts.reasons[at]};
    plan.own = plan.held = plan.layout.boxes(cut.mesh, shape);
    program.values.push_back(std::move(plan));
  }
  for (ValueId id = 0; id < program.graph.size(); ++id)
    if (program.graph.node(id).role == Role::kOp) add_needs(program, ops, id);
  for (ValueId id = 0; id < program.graph.size(); ++id)
    if (reads_only_parameters(program.graph, ops, id)) add_compute(program, ops, id);
  program.prologue = program.instructions.size();
  for (ValueId id = 0; id < program.graph.size(); ++id) {
    if (program.graph.node(id).role == Role::kOp && !reads_only_parameters(program.graph, ops, id))
      add_compute(program, ops, id);
    add_margins(program, id);
  }
  return program;
}

}  // namespace voxshard
