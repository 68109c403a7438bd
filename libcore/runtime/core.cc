#include "libcore/runtime/core.h"

#include <algorithm>

#include "libcore/memory/turns.h"

namespace voxshard {
namespace {

/// Returns the part of `held` outside `inside` as disjoint boxes (a slab below and above per axis).
std::vector<Box> outside_of(Box held, const Box& inside) {
  std::vector<Box> parts;
  if (intersect(held, inside).empty()) return {held};
  for (int a = 0; a < held.axes(); ++a) {
    Box below = held, above = held;
    below.set(a, held.begin[a], std::min(held.end(a), inside.begin[a]));
    above.set(a, std::max(held.begin[a], inside.end(a)), held.end(a));
    if (!below.empty()) parts.push_back(below);
    if (!above.empty()) parts.push_back(above);
    held.set(a, std::max(held.begin[a], inside.begin[a]), std::min(held.end(a), inside.end(a)));
  }
  return parts;
}

}  // namespace

Cores::Cores(const Executable& executable, const OpTable& ops, Parameters& parameters, int workers, const Ranks& ranks,
             ArenaMode mode, int scratch, std::vector<Arena> warm)
    : executable_(executable),
      ops_(ops),
      parameters_(parameters),
      ranks_(ranks),
      take_turns_(scratch >= 0),
      process_(executable.memory.process.bytes, mode),
      messages_(2 * message_bytes(executable.program, executable.schedule, ranks), mode) {
  const auto hosted = static_cast<std::size_t>(end() - first());
  while (warm.size() > hosted) warm.pop_back();  // given back before others grow
  std::int64_t begin = 0;                        // in the file
  for (std::int64_t core = first(); core < end(); ++core) {
    const std::int64_t bytes = executable.memory.arenas[core].bytes;
    if (take_turns_)
      arenas_.emplace_back(bytes, FileRange{.descriptor = scratch, .begin = begin});
    else if (arenas_.size() < warm.size())
      arenas_.emplace_back(std::move(warm[arenas_.size()]), bytes);
    else
      arenas_.emplace_back(bytes, mode);
    begin += bytes_in_file(bytes);
  }
  for (int w = 0; w < workers; ++w) workspaces_.emplace_back(executable.kernels.workspace_bytes, mode);
  for (const Node& node : program().graph.nodes()) {
    if (node.role != Role::kParameter && node.role != Role::kState) continue;
    const auto it = parameters_.find(node.name);
    ensure(it != parameters_.end() && it->second.shape() == node.type.shape && it->second.dtype() == node.type.dtype,
           "every parameter of the graph is in the store with its type");
  }
  // Memory without tracked lifetimes may be used from the start.
  messages_.revive(0, messages_.bytes());
  for (const Arena& workspace : workspaces_) workspace.revive(0, workspace.bytes());
  for (ValueId id = 0; id < program().graph.size(); ++id) {
    const Buffer* buffer = executable_.memory.process.find(id, kPackedWeights);
    packed_at_.push_back(buffer != nullptr ? process_.at(buffer->offset, buffer->bytes) : nullptr);
  }
}

TensorView Cores::held(ValueId id, std::size_t core) const {
  const Node& node = program().graph.node(id);
  if (node.role == Role::kParameter || node.role == Role::kState) return parameters_.at(node.name).view();
  const bool replicated = program().replicated(id);
  const Pool& pool = replicated ? executable_.memory.process : executable_.memory.arenas[core];
  // A rank without cores computes replicated results too; some of them have a cut value as operand but read nothing of
  // it.
  const bool is_here = replicated || hosts(static_cast<std::int64_t>(core));
  const Buffer* buffer = is_here ? pool.find(id) : nullptr;
  if (buffer == nullptr) return dense_view(nullptr, node.type.dtype, Box::none(node.type.shape.axes()));
  const Arena& memory = replicated ? process_ : arena(core);
  return dense_view(memory.at(buffer->offset, buffer->bytes), node.type.dtype, buffer->box);
}

TensorView Cores::owned(ValueId id, std::size_t core) const {
  const ValuePlan& plan = program().plan(id);
  return held(id, core).sub(plan.own[plan.layout.replicated ? 0 : core]);
}

TensorView Cores::output(const Instruction& instruction, std::size_t core, std::size_t block,
                         const TensorView& geometry) const {
  if (!instruction.partial || !needs_join(instruction)) return held(instruction.value, core).sub(geometry.box);
  const Buffer* buffer = executable_.memory.arenas[core].find(instruction.value, static_cast<std::int64_t>(block));
  ensure(buffer != nullptr && buffer->box == geometry.box, "a partial result has its buffer");
  return dense_view(arena(core).at(buffer->offset, buffer->bytes), geometry.dtype, buffer->box);
}

Call Cores::call(std::size_t index, std::size_t core, std::size_t block) const {
  const Instruction& instruction = program().instructions[index];
  const auto& blocks = instruction.blocks[instruction.blocks.size() == 1 ? 0 : core];
  const BlockGeometry geometry = block_geometry(program(), ops_, instruction, core, blocks[block]);
  Call call;
  const auto& inputs = program().graph.node(instruction.value).inputs;
  for (std::size_t slot = 0; slot < inputs.size(); ++slot)
    call.inputs.push_back(held(inputs[slot], core).sub(geometry.inputs[slot].box));
  call.output = output(instruction, core, block, geometry.output);
  return call;
}

Stage Cores::stage(std::size_t index, std::size_t core) const {
  const Instruction& instruction = program().instructions[index];
  Stage stage{.instruction = index};
  if (instruction.kind == InstructionKind::kFillMargin) {
    const TensorView view = held(instruction.value, core);
    const Box whole = Box::whole(program().graph.node(instruction.value).type.shape);
    if (!view.box.empty())
      for (const Box& part : outside_of(view.box, whole)) stage.zero.push_back(view.sub(part));
    return stage;
  }
  for (std::size_t b = 0; b < instruction.blocks[core].size(); ++b) stage.calls.push_back(call(index, core, b));
  return stage;
}

std::byte* Cores::workspace(int worker) const {
  const Arena& arena = workspaces_[worker];
  return arena.bytes() > 0 ? arena.at(0, arena.bytes()) : nullptr;
}

std::span<std::byte> Cores::messages(int half) const {
  const std::int64_t bytes = messages_.bytes() / 2;
  return bytes == 0 ? std::span<std::byte>()
                    : std::span(messages_.at(half * bytes, bytes), static_cast<std::size_t>(bytes));
}

void Cores::bring_in(std::int64_t core, const Call& call) const {
  const Arena& in_turn = arena(static_cast<std::size_t>(core));
  const auto whole = [&](const TensorView& view, bool written) {
    if (view.data == nullptr || view.box.empty()) return;
    std::int64_t last = 0;  // element of the view
    for (int a = 0; a < view.axes(); ++a) last += (view.extent()[a] - 1) * view.strides[a];
    const std::int64_t bytes = (last + 1) * dtype_bytes(view.dtype);
    if (2 * view.bytes() >= bytes) in_turn.bring_in(view.data, bytes, written);  // else others lie between its rows
  };
  for (const TensorView& input : call.inputs) whole(input, false);
  whole(call.output, true);
}

}  // namespace voxshard
