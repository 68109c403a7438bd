#include "libcore/memory/host_kernels.h"

#include <algorithm>

namespace voxshard {

BlockGeometry block_geometry(const Program& program, const OpTable& ops, const Instruction& instruction,
                             std::size_t core, const Box& block) {
  const Node& node = program.graph.node(instruction.value);
  const OpDef& def = ops.at(node.op);
  const auto types = program.graph.input_types(instruction.value);
  const OpContext op{node.attrs, types, node.type};
  BlockGeometry geometry;
  for (int slot = 0; slot < static_cast<int>(node.inputs.size()); ++slot) {
    const ValuePlan& plan = program.plan(node.inputs[slot]);
    const Box& held = plan.held[plan.layout.replicated ? 0 : core];
    const DType dtype = types[slot].dtype;
    Box need = needed_box(def, op, slot, block);
    if (plan.layout.replicated) need = intersect(need, held);  // parameters have no margins
    geometry.inputs.push_back(dense_view(nullptr, dtype, held).sub(need));
  }
  if (def.driver >= 0) {
    const Box result = result_box(def, op, block);
    // A partial result has memory of its own; a complete one is a part of the value's buffer.
    geometry.output = instruction.partial
                          ? dense_view(nullptr, node.type.dtype, result)
                          : dense_view(nullptr, node.type.dtype, Box::whole(node.type.shape)).sub(result);
  } else {
    const ValuePlan& plan = program.plan(instruction.value);
    geometry.output = dense_view(nullptr, node.type.dtype, plan.held[plan.layout.replicated ? 0 : core]).sub(block);
  }
  return geometry;
}

std::int64_t HostKernels::packed_bytes(ValueId id) const {
  const auto& kernel = by_value[id].kernel;
  return kernel == nullptr ? 0 : kernel->packed_bytes();
}

std::vector<std::int64_t> HostKernels::packed_bytes() const {
  std::vector<std::int64_t> bytes;
  for (std::size_t id = 0; id < by_value.size(); ++id) bytes.push_back(packed_bytes(static_cast<ValueId>(id)));
  return bytes;
}

HostKernels bind_kernels(const Program& program, const OpTable& ops, KernelSet set) {
  HostKernels kernels;
  kernels.by_value.resize(program.values.size());
  for (const Instruction& instruction : program.instructions) {
    if (instruction.kind != InstructionKind::kCompute) continue;
    const Node& node = program.graph.node(instruction.value);
    const auto types = program.graph.input_types(instruction.value);
    auto& [kernel, workspace_bytes] = kernels.by_value[instruction.value];
    kernel = ops.at(node.op).kernel({node.attrs, types, node.type}, set);
    for (std::size_t core = 0; core < instruction.blocks.size(); ++core)
      for (const Box& block : instruction.blocks[core]) {
        const BlockGeometry geometry = block_geometry(program, ops, instruction, core, block);
        workspace_bytes =
            std::max(workspace_bytes, kernel->workspace_bytes({.inputs = geometry.inputs, .output = geometry.output}));
      }
    if (workspace_bytes <= kernels.workspace_bytes) continue;
    kernels.workspace_bytes = workspace_bytes;
    kernels.widest = instruction.value;
  }
  return kernels;
}

}  // namespace voxshard
