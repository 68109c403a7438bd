#include "libcore/device/tpu/fusion.h"

#include "libcore/device/tpu/product_layout.h"
#include "libcore/memory/tiles.h"

namespace voxshard {
namespace {

/// True when each element of the result depends only on the same element of those inputs that have as many axes, and
/// these have the shape of the result.
bool element_by_element(const Graph& graph, const OpTable& ops, ValueId id) {
  const Node& node = graph.node(id);
  if (node.role != Role::kOp || node.type.shape.axes() < 4) return false;
  const OpDef& def = ops.at(node.op);
  if (def.driver >= 0) return false;
  const auto types = graph.input_types(id);
  const OpContext op{node.attrs, types, node.type};
  const Box whole = Box::whole(node.type.shape);
  if (work_of(def, op, whole).products.count > 0) return false;
  bool of_tensors = false;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i].shape.axes() != node.type.shape.axes()) continue;
    of_tensors = true;
    if (!(needed_box(def, op, static_cast<int>(i), whole) == whole) || !(types[i].shape == node.type.shape))
      return false;
  }
  return of_tensors;
}

}  // namespace

Fusions::Fusions(const TpuSpec& device, const Program& program, const OpTable& ops)
    : device_(device), program_(program), ops_(ops), values_(static_cast<std::size_t>(program.graph.size())) {
  const Graph& graph = program.graph;
  std::vector<bool> read(values_.size(), false), wanted(values_.size(), false);
  for (const Node& node : graph.nodes())
    for (ValueId input : node.inputs) read[input] = true;
  for (const auto& [name, id] : graph.outputs) wanted[id] = true;
  for (const Instruction& instruction : program.instructions)
    if (instruction.kind == InstructionKind::kExchange) values_[instruction.value].exchanged = true;
  for (ValueId id = 0; id < graph.size(); ++id) {
    const auto index = static_cast<std::size_t>(id);
    if (!read[index] || wanted[index] || program.replicated(id) || !element_by_element(graph, ops, id)) continue;
    std::int64_t tensors = 0;
    for (ValueId input : graph.node(id).inputs)
      if (graph.node(input).type.shape.axes() == graph.node(id).type.shape.axes()) tensors += at(input).tensors;
    if (tensors > device.fused_tensors) continue;
    Value& value = values_[index];
    value.fused = !value.exchanged;
    value.lost = value.exchanged;
    if (value.fused) value.tensors = tensors;
  }
}

double Fusions::read_bytes(ValueId id, const Box& box) const {
  const Node& node = program_.graph.node(id);
  const Box inside = intersect(box, Box::whole(node.type.shape));
  if (inside.empty()) return 0;
  if (!fused(id)) return layout_bytes(device_, program_, id, inside.extent);
  const auto types = program_.graph.input_types(id);
  const OpContext op{node.attrs, types, node.type};
  double bytes = 0;
  for (std::size_t i = 0; i < types.size(); ++i)
    bytes += read_bytes(node.inputs[i], needed_box(ops_.at(node.op), op, static_cast<int>(i), inside));
  return bytes;
}

double layout_bytes(const TpuSpec& device, const Program& program, ValueId id, const Dims& extent) {
  const Node& node = program.graph.node(id);
  const bool computed = node.role == Role::kOp && !program.replicated(id);
  return (computed && device.samples_pad_memory ? product_elements(extent) : tiled_elements(extent)) *
         static_cast<double>(device_bytes(node.type.dtype));
}

}  // namespace voxshard
