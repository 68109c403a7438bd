#include "libcore/graph/autodiff.h"

namespace voxshard {
namespace {

/// True for the values that depend on a trained parameter.
std::vector<bool> depends_on_parameter(const Graph& graph) {
  std::vector<bool> depends(static_cast<std::size_t>(graph.size()), false);
  for (ValueId id = 0; id < graph.size(); ++id) {
    const Node& n = graph.node(id);
    bool d = n.role == Role::kParameter && !n.parameter.frozen;
    for (ValueId i : n.inputs) d = d || depends[i];
    depends[id] = d;
  }
  return depends;
}

}  // namespace

void differentiate(Builder& builder, ValueId loss) {
  Graph& graph = builder.graph();
  const std::vector<bool> depends = depends_on_parameter(graph);
  std::vector<ValueId> d_value(static_cast<std::size_t>(graph.size()), kNoValue);
  const ValueId forward_size = graph.size();
  const ValueId seed = builder.op("one_like", {loss}, {}, "grad/" + graph.node(loss).name);
  graph.backward_root = seed;
  d_value[loss] = seed;
  for (ValueId id = forward_size - 1; id >= 0; --id) {
    const ValueId d_result = d_value[id];
    if (d_result == kNoValue || graph.node(id).role != Role::kOp) continue;
    const Node node = graph.node(id);  // a copy: the graph grows below
    const OpDef& def = builder.ops().at(node.op);
    if (def.differentiate == nullptr)
      throw Error(ErrorKind::kConfig,
                  "[" + node.name + "] op " + node.op + " has no gradient; it cannot be trained through");
    std::vector<bool> wanted;
    for (ValueId i : node.inputs) wanted.push_back(depends[i]);
    std::vector<ValueId> d_inputs(node.inputs.size(), kNoValue);
    GradientContext context{builder, node, id, d_result, wanted, d_inputs};
    def.differentiate(context);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!wanted[i] || d_inputs[i] == kNoValue) continue;
      // A gradient follows the cut of its value; a parameter is not cut, so its gradient follows nothing. A gradient
      // that an op passes on unchanged (an add) keeps the cut it was made with.
      const Role role = graph.node(node.inputs[i]).role;
      const bool cut = role == Role::kOp || role == Role::kInput;
      if (cut && d_inputs[i] != d_result &&
          leading(builder.type(d_inputs[i]).shape) == leading(builder.type(node.inputs[i]).shape))
        graph.follow(d_inputs[i], node.inputs[i]);
      ValueId& sum = d_value[node.inputs[i]];
      sum = sum == kNoValue
                ? d_inputs[i]
                : builder.op("add", {sum, d_inputs[i]}, {}, "grad/" + graph.node(node.inputs[i]).name + "/add");
    }
  }
  for (ValueId id = 0; id < forward_size; ++id)
    if (graph.node(id).role == Role::kParameter && d_value[id] != kNoValue) graph.gradients[id] = d_value[id];
}

Graph with_gradient(Graph graph, const OpTable& ops) {
  const auto loss = graph.outputs.find("loss");
  if (loss == graph.outputs.end() || graph.backward_root != kNoValue) return graph;
  Builder builder(graph, ops);
  differentiate(builder, loss->second);
  return graph;
}

}  // namespace voxshard
