#include "libcore/memory/plan.h"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "libcore/memory/tiles.h"

namespace voxshard {
namespace {

std::int64_t aligned(std::int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

std::int64_t bytes_of(const Box& box, DType dtype, bool tiled) {
  if (!tiled) return aligned(box.count() * dtype_bytes(dtype));
  return aligned(static_cast<std::int64_t>(tiled_elements(box.extent)) * device_bytes(dtype));
}

struct Lifetime {
  int first = -1;
  int last = -1;
};

std::vector<Lifetime> lifetimes(const Program& program, const MemoryOptions& options) {
  std::vector<Lifetime> lives(program.values.size());
  const int end = static_cast<int>(program.instructions.size());
  for (int i = 0; i < end; ++i) {
    const Instruction& instruction = program.instructions[i];
    if (instruction.kind == InstructionKind::kPack) continue;  // reads what its op reads
    Lifetime& own = lives[instruction.value];
    if (own.first < 0) own.first = i;
    own.last = i;
    if (instruction.kind != InstructionKind::kCompute) continue;
    for (ValueId input : program.graph.node(instruction.value).inputs)
      lives[input].last = std::max(lives[input].last, i);
  }
  auto keep = [&](ValueId id) { lives[id].last = end; };
  for (const auto& [name, id] : program.graph.outputs) keep(id);
  for (const auto& [parameter, gradient] : program.graph.gradients) keep(gradient);
  for (const auto& [state, value] : program.graph.effects) keep(value);
  for (ValueId id = 0; id < program.graph.size(); ++id) {
    Lifetime& life = lives[id];
    if (program.graph.node(id).role == Role::kInput) life.first = 0;  // fed before the first instruction
    if (options.keep_all) life = {0, end};
    life.last = std::max(life.last, life.first);
  }
  return lives;
}

/// Places buffers greedily by size: the largest first, each at the lowest offset that is free during its lifetime.
void place(Pool& pool, std::int64_t guard) {
  std::vector<std::size_t> order(pool.buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return pool.buffers[a].bytes > pool.buffers[b].bytes; });
  std::vector<const Buffer*> placed;  // sorted by offset
  for (std::size_t index : order) {
    Buffer& buffer = pool.buffers[index];
    std::int64_t offset = 0;
    for (const Buffer* other : placed) {
      if (other->last < buffer.first || buffer.last < other->first) continue;
      if (offset + buffer.bytes + guard <= other->offset) break;
      offset = std::max(offset, other->offset + other->bytes + guard);
    }
    buffer.offset = offset;
    placed.insert(std::upper_bound(placed.begin(), placed.end(), &buffer,
                                   [](const Buffer* a, const Buffer* b) { return a->offset < b->offset; }),
                  &buffer);
    pool.bytes = std::max(pool.bytes, offset + buffer.bytes + guard);
  }
}

/// On a TPU a core sums its blocks into one partial result.
void add_tiled_partial(const Program& program, int index, const Instruction& compute, MemoryPlan& plan) {
  const TensorType& type = program.graph.node(compute.value).type;
  const Box box = Box::whole(type.shape);
  for (std::size_t core = 0; core < compute.blocks.size(); ++core)
    if (!compute.blocks[core].empty())
      plan.arenas[core].buffers.push_back({.value = compute.value,
                                           .partial = 0,
                                           .box = box,
                                           .bytes = bytes_of(box, type.dtype, true),
                                           .first = index,
                                           .last = index + 1});
}

void add_partials(const Program& program, const OpTable& ops, int index, const Instruction& compute, MemoryPlan& plan) {
  if (!compute.partial || !needs_join(compute)) return;
  if (plan.tiled) return add_tiled_partial(program, index, compute, plan);
  const Node& node = program.graph.node(compute.value);
  const auto types = program.graph.input_types(compute.value);
  const OpContext op{node.attrs, types, node.type};
  for (std::size_t core = 0; core < compute.blocks.size(); ++core) {
    for (std::size_t b = 0; b < compute.blocks[core].size(); ++b) {
      const Box box = result_box(ops.at(node.op), op, compute.blocks[core][b]);
      plan.arenas[core].buffers.push_back({.value = compute.value,
                                           .partial = static_cast<std::int64_t>(b),
                                           .box = box,
                                           .bytes = bytes_of(box, node.type.dtype, false),
                                           .first = index,
                                           .last = index + 1});
    }
  }
}

}  // namespace

const char* buffer_kind(const Buffer& buffer) {
  return buffer.partial >= 0 ? " (partial)" : buffer.partial == kPackedWeights ? " (packed weights)" : "";
}

const Buffer* Pool::find(ValueId value, std::int64_t partial) const {
  for (const Buffer& buffer : buffers)
    if (buffer.value == value && buffer.partial == partial) return &buffer;
  return nullptr;
}

MemoryPlan plan_memory(const Program& program, const OpTable& ops, const MemoryOptions& options) {
  MemoryPlan plan{.tiled = options.tiled, .guard_bytes = aligned(options.guard_bytes)};
  plan.arenas.resize(program.mesh().cores());
  const auto lives = lifetimes(program, options);
  for (ValueId id = 0; id < program.graph.size(); ++id) {
    const Node& node = program.graph.node(id);
    const ValuePlan& value = program.plan(id);
    if (node.role == Role::kParameter || node.role == Role::kState) {
      const std::int64_t bytes =
          plan.tiled ? bytes_of(Box::whole(node.type.shape), node.type.dtype, true) : node.type.bytes();
      plan.parameter_bytes += bytes;
      if (node.role == Role::kParameter && !node.parameter.frozen) plan.trained_bytes += bytes;
      continue;
    }
    const Lifetime& life = lives[id];
    for (std::size_t core = 0; core < value.held.size(); ++core) {
      if (value.held[core].empty()) continue;
      Pool& pool = value.layout.replicated ? plan.process : plan.arenas[core];
      // Margins outside the tensor are stored for the host's kernels alone; a TPU pads as it reads.
      const Box box = plan.tiled ? intersect(value.held[core], Box::whole(node.type.shape)) : value.held[core];
      pool.buffers.push_back({.value = id,
                              .box = box,
                              .bytes = bytes_of(box, node.type.dtype, plan.tiled),
                              .first = life.first,
                              .last = life.last});
    }
  }
  for (int i = 0; i < static_cast<int>(program.instructions.size()); ++i)
    add_partials(program, ops, i, program.instructions[i], plan);
  for (Pool& arena : plan.arenas) place(arena, plan.guard_bytes);
  place(plan.process, plan.guard_bytes);
  return plan;
}

void plan_packed(MemoryPlan& plan, const Program& program, const std::vector<std::int64_t>& packed_bytes) {
  Pool& pool = plan.process;
  for (int i = 0; i < static_cast<int>(program.instructions.size()); ++i) {
    const Instruction& instruction = program.instructions[i];
    const std::int64_t bytes = packed_bytes[instruction.value];
    if (bytes == 0) continue;
    if (instruction.kind == InstructionKind::kPack)
      pool.buffers.push_back({.value = instruction.value,
                              .partial = kPackedWeights,
                              .box = Box::whole({bytes}),
                              .bytes = aligned(bytes),
                              .first = i,
                              .last = i});
    if (instruction.kind != InstructionKind::kCompute) continue;
    ensure(!pool.buffers.empty() && pool.buffers.back().value == instruction.value,
           "weights are packed in front of their op");
    pool.buffers.back().last = i;
  }
  const std::int64_t before = pool.bytes;
  pool.bytes = 0;
  place(pool, plan.guard_bytes);
  plan.packed_bytes = pool.bytes - before;
}

std::vector<std::string> verify(const MemoryPlan& plan) {
  std::vector<std::string> broken;
  auto check = [&](const Pool& pool, const std::string& name) {
    for (std::size_t i = 0; i < pool.buffers.size(); ++i) {
      const Buffer& a = pool.buffers[i];
      if (a.offset % kAlignment != 0 || a.offset + a.bytes > pool.bytes)
        broken.push_back(name + ": buffer of %" + std::to_string(a.value) + " lies outside its pool");
      for (std::size_t j = 0; j < i; ++j) {
        const Buffer& b = pool.buffers[j];
        const bool together = a.first <= b.last && b.first <= a.last;
        if (together && a.offset < b.offset + b.bytes + plan.guard_bytes &&
            b.offset < a.offset + a.bytes + plan.guard_bytes)
          broken.push_back(name + ": %" + std::to_string(a.value) + " and %" + std::to_string(b.value) + " overlap");
      }
    }
  };
  for (std::size_t c = 0; c < plan.arenas.size(); ++c) check(plan.arenas[c], "arena " + std::to_string(c));
  check(plan.process, "process pool");
  return broken;
}

std::vector<Allocation> largest_allocations(const Program& program, const MemoryPlan& plan, std::size_t core,
                                            std::size_t count) {
  std::vector<Allocation> all;
  auto add = [&](const Pool& pool) {
    for (const Buffer& buffer : pool.buffers) {
      if (buffer.partial == kPackedWeights) {
        all.push_back({program.graph.node(buffer.value).name + buffer_kind(buffer),
                       {DType::kU8, Shape{buffer.box.count()}},
                       buffer.box,
                       buffer.bytes,
                       buffer.box.count()});
        continue;
      }
      const Node& node = program.graph.node(buffer.value);
      const ValuePlan& value = program.plan(buffer.value);
      const Box own = buffer.partial >= 0 || value.layout.replicated ? buffer.box : value.own[core];
      all.push_back({node.name + buffer_kind(buffer), node.type, buffer.box, buffer.bytes,
                     own.count() * (plan.tiled ? device_bytes(node.type.dtype) : dtype_bytes(node.type.dtype))});
    }
  };
  add(plan.arenas[core]);
  add(plan.process);
  std::stable_sort(all.begin(), all.end(), [](const Allocation& a, const Allocation& b) { return a.bytes > b.bytes; });
  if (all.size() > count) all.resize(count);
  return all;
}

std::string to_text(const Program& program, const MemoryPlan& plan) {
  std::ostringstream out;
  auto add = [&](const Buffer& b) {
    out << "  +" << b.offset << " " << b.bytes << " bytes, instructions " << b.first << ".." << b.last << ": "
        << program.graph.node(b.value).name << buffer_kind(b) << " " << to_string(b.box) << "\n";
  };
  for (std::size_t c = 0; c < plan.arenas.size(); ++c) {
    out << "arena " << c << ": " << plan.arenas[c].bytes << " bytes, " << plan.arenas[c].buffers.size() << " buffers\n";
    if (c > 0) continue;
    for (const Buffer& b : plan.arenas[c].buffers) add(b);
  }
  out << "process pool: " << plan.process.bytes << " bytes; parameters and states: " << plan.parameter_bytes
      << " bytes\n";
  std::int64_t packed = 0;
  for (const Buffer& b : plan.process.buffers) packed += b.partial == kPackedWeights ? b.bytes : 0;
  if (packed == 0) return out.str();
  out << "packed weights, each around its layer: " << packed << " bytes in all, the pool is " << plan.packed_bytes
      << " larger for them\n";
  for (const Buffer& b : plan.process.buffers)
    if (b.partial == kPackedWeights) add(b);
  return out.str();
}

}  // namespace voxshard
