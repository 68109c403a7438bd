#include "libcore/schedule/schedule.h"

#include <algorithm>

namespace voxshard {
namespace {

/// True for an instruction that all cores take part in together.
bool is_barrier(const Program& program, const Instruction& instruction) {
  if (instruction.kind == InstructionKind::kJoin || instruction.kind == InstructionKind::kExchange ||
      instruction.kind == InstructionKind::kPack)
    return true;
  return instruction.kind == InstructionKind::kCompute && program.replicated(instruction.value) && !instruction.partial;
}

/// Groups blocks by the box that they add to; these boxes are equal or disjoint.
std::vector<Sum> sums_of(const Program& program, const OpTable& ops, const Instruction& compute) {
  std::vector<Sum> sums;
  const Node& node = program.graph.node(compute.value);
  const auto types = program.graph.input_types(compute.value);
  const OpContext op{node.attrs, types, node.type};
  for (std::size_t core = 0; core < compute.blocks.size(); ++core)
    for (std::size_t b = 0; b < compute.blocks[core].size(); ++b) {
      const Box box = result_box(ops.at(node.op), op, compute.blocks[core][b]);
      auto sum = std::find_if(sums.begin(), sums.end(), [&](const Sum& s) { return s.box == box; });
      if (sum == sums.end()) sum = sums.insert(sums.end(), {box, {}});
      sum->addends.push_back({core, b});
    }
  return sums;
}

}  // namespace

Schedule schedule_of(const Program& program, const OpTable& ops) {
  Schedule schedule;
  schedule.sums.resize(program.instructions.size());
  bool open = false;  // a segment that more instructions may join
  for (std::size_t i = program.prologue; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    if (instruction.kind == InstructionKind::kJoin)
      schedule.sums[i] = sums_of(program, ops, program.instructions[i - 1]);
    if (is_barrier(program, instruction)) {  // a join of one partial adds nothing but makes the result visible to all
      schedule.steps.push_back({.barrier = true, .instructions = {i}});
      open = false;
      continue;
    }
    // A single partial result is written in place, often in the process pool. Other cores may still read that memory
    // for another value until they have reached this step too.
    const bool in_place = instruction.partial && !needs_join(instruction);
    if (!open || in_place) schedule.steps.emplace_back();
    schedule.steps.back().instructions.push_back(i);
    open = true;
  }
  return schedule;
}

}  // namespace voxshard
