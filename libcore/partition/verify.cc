// The checks of a program.
#include <algorithm>

#include "libcore/partition/program.h"

namespace voxshard {
namespace {

std::string where(const Program& program, ValueId id) {
  return "%" + std::to_string(id) + " " + program.graph.node(id).name + ": ";
}

void verify_tiling(const Program& program, ValueId id, std::vector<std::string>& broken) {
  const ValuePlan& plan = program.plan(id);
  if (plan.layout.replicated) return;
  std::int64_t covered = 0;
  for (std::size_t c = 0; c < plan.own.size(); ++c) {
    bool replica = false;
    for (std::size_t d = 0; d < c; ++d) {
      replica = replica || plan.own[d] == plan.own[c];
      if (!(plan.own[d] == plan.own[c]) && !intersect(plan.own[d], plan.own[c]).empty())
        broken.push_back(where(program, id) + "the boxes of cores " + std::to_string(d) + " and " + std::to_string(c) +
                         " overlap");
    }
    if (!replica) covered += plan.own[c].count();
    if (!plan.held[c].contains(plan.own[c]))
      broken.push_back(where(program, id) + "core " + std::to_string(c) + " does not hold what it owns");
  }
  if (covered != element_count(program.graph.node(id).type.shape))
    broken.push_back(where(program, id) + "the owned boxes do not cover the tensor");
}

void verify_margins(const Program& program, ValueId id, std::vector<std::string>& broken) {
  const ValuePlan& plan = program.plan(id);
  if (plan.layout.replicated) return;
  std::vector<std::int64_t> filled(plan.own.size());
  std::vector<std::vector<Box>> arrived(plan.own.size());
  bool outside = false, outside_filled = false;
  const Box whole = Box::whole(program.graph.node(id).type.shape);
  for (const Box& held : plan.held) outside = outside || !whole.contains(held);
  for (std::size_t c = 0; c < plan.own.size(); ++c) filled[c] = plan.own[c].count();
  for (const Instruction& instruction : program.instructions) {
    if (instruction.value != id) continue;
    outside_filled = outside_filled || instruction.kind == InstructionKind::kFillMargin;
    if (instruction.kind != InstructionKind::kExchange) continue;
    for (const Copy& copy : instruction.copies) {
      const auto to = static_cast<std::size_t>(copy.to), from = static_cast<std::size_t>(copy.from);
      if (!plan.held[to].contains(copy.box) || !plan.own[from].contains(copy.box))
        broken.push_back(where(program, id) + "a copy leaves its boxes");
      if (!intersect(copy.box, plan.own[to]).empty())
        broken.push_back(where(program, id) + "a copy writes into owned voxels of core " + std::to_string(copy.to));
      for (const Box& other : arrived[to])
        if (!intersect(copy.box, other).empty())
          broken.push_back(where(program, id) + "core " + std::to_string(to) + " gets " + to_string(copy.box) +
                           " twice");
      arrived[to].push_back(copy.box);
      filled[to] += copy.box.count();
    }
  }
  for (std::size_t c = 0; c < plan.own.size(); ++c)
    if (filled[c] != intersect(plan.held[c], whole).count())
      broken.push_back(where(program, id) + "core " + std::to_string(c) +
                       " misses part of its margin or gets it twice");
  if (outside && !outside_filled) broken.push_back(where(program, id) + "nobody fills its margin outside the tensor");
}

void verify_reads(const Program& program, const OpTable& ops, const Instruction& compute,
                  std::vector<std::string>& broken) {
  const Node& node = program.graph.node(compute.value);
  const OpDef& def = ops.at(node.op);
  const auto types = program.graph.input_types(compute.value);
  const OpContext op{node.attrs, types, node.type};
  for (std::size_t core = 0; core < compute.blocks.size(); ++core) {
    for (const Box& block : compute.blocks[core]) {
      for (int slot = 0; slot < static_cast<int>(node.inputs.size()); ++slot) {
        const ValuePlan& plan = program.plan(node.inputs[slot]);
        if (!plan.layout.replicated && !plan.held[core].contains(needed_box(def, op, slot, block)))
          broken.push_back(where(program, compute.value) + "core " + std::to_string(core) + " reads input " +
                           std::to_string(slot) + " beyond what it holds");
      }
    }
  }
}

}  // namespace

std::vector<std::string> verify(const Program& program, const OpTable& ops) {
  std::vector<std::string> broken;
  for (ValueId id = 0; id < program.graph.size(); ++id) {
    verify_tiling(program, id, broken);
    verify_margins(program, id, broken);
  }
  std::vector<bool> ready(program.values.size(), false);
  std::vector<bool> packed(program.values.size(), false);
  std::vector<std::size_t> complete(program.values.size(), 0);  // one past the last instruction that writes it
  for (ValueId id = 0; id < program.graph.size(); ++id) ready[id] = program.graph.node(id).role != Role::kOp;
  for (std::size_t at = 0; at < program.instructions.size(); ++at) complete[program.instructions[at].value] = at + 1;
  for (std::size_t at = 0; at < program.instructions.size(); ++at) {
    const Instruction& instruction = program.instructions[at];
    if (instruction.kind == InstructionKind::kCompute) {
      for (ValueId i : program.graph.node(instruction.value).inputs)
        if (!ready[i] || complete[i] > at)
          broken.push_back(where(program, instruction.value) + "reads %" + std::to_string(i) + " before it is ready");
      verify_reads(program, ops, instruction, broken);
      if (ops.at(program.graph.node(instruction.value).op).packed != nullptr && !packed[instruction.value])
        broken.push_back(where(program, instruction.value) + "is computed before its weights are packed");
      ready[instruction.value] = !instruction.partial;
    } else if (instruction.kind == InstructionKind::kPack) {
      const Node& node = program.graph.node(instruction.value);
      const auto types = program.graph.input_types(instruction.value);
      const auto slot = static_cast<std::size_t>(ops.at(node.op).packed({node.attrs, types, node.type}));
      if (!ready[node.inputs[slot]])
        broken.push_back(where(program, instruction.value) + "its weights are packed before they are ready");
      packed[instruction.value] = true;
    } else if (instruction.kind == InstructionKind::kJoin) {
      ready[instruction.value] = true;
    } else if (!ready[instruction.value]) {
      broken.push_back(where(program, instruction.value) + "its margin is filled before it is computed");
    }
  }
  return broken;
}

}  // namespace voxshard
