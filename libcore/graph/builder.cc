#include "libcore/graph/builder.h"

namespace voxshard {

std::string Builder::unique(const std::string& name) const {
  if (graph_.find(name) == kNoValue) return name;
  for (int i = 1;; ++i) {
    const std::string candidate = name + "." + std::to_string(i);
    if (graph_.find(candidate) == kNoValue) return candidate;
  }
}

ValueId Builder::input(const std::string& name, TensorType type, const InputInfo& info) {
  return graph_.append({.role = Role::kInput, .name = name, .type = type, .input = info});
}

ValueId Builder::parameter(const std::string& name, TensorType type, const ParameterInfo& info) {
  return graph_.append({.role = Role::kParameter, .name = name, .type = type, .parameter = info});
}

ValueId Builder::state(const std::string& name, TensorType type, const Initial& begins) {
  return graph_.append({.role = Role::kState, .name = name, .type = type, .parameter = {.begins = begins}});
}

ValueId Builder::op(const std::string& op, std::vector<ValueId> inputs, Attributes attrs, const std::string& name) {
  std::vector<TensorType> types;
  for (ValueId id : inputs) types.push_back(type(id));
  TensorType result;
  try {
    const OpDef& def = ops_.at(op);
    if (std::holds_alternative<NoAttrs>(attrs)) attrs = def.attributes;
    ensure(attrs.index() == def.attributes.index(), "an op is given the attributes of its family");
    result = def.infer(attrs, types);
  } catch (Error& error) {
    error.add_context("[" + name + "] " + op);
    throw;
  }
  return graph_.append(
      {.role = Role::kOp, .op = op, .name = unique(name), .inputs = std::move(inputs), .attrs = attrs, .type = result});
}

std::vector<std::string> verify(const Graph& graph, const OpTable& ops) {
  std::vector<std::string> broken;
  for (ValueId id = 0; id < graph.size(); ++id) {
    const Node& n = graph.node(id);
    const std::string where = "%" + std::to_string(id) + " " + n.name + ": ";
    bool ordered = true;
    for (ValueId i : n.inputs) ordered = ordered && i >= 0 && i < id;
    if (!ordered) {
      broken.push_back(where + "an input is defined after its use");
      continue;
    }
    if (n.follows != kNoValue &&
        (n.follows < 0 || n.follows >= id || leading(graph.node(n.follows).type.shape) != leading(n.type.shape)))
      broken.push_back(where + "follows a value that is not before it or has other extents");
    if (n.role != Role::kOp) continue;
    try {
      const auto types = graph.input_types(id);
      const OpDef& def = ops.at(n.op);
      if (n.attrs.index() != def.attributes.index()) broken.push_back(where + "has the attributes of another family");
      const TensorType inferred = def.infer(n.attrs, types);
      if (inferred != n.type)
        broken.push_back(where + "has type " + to_string(n.type) + ", inferred " + to_string(inferred));
    } catch (const Error& error) {
      broken.push_back(where + error.what());
    }
  }
  for (const auto& [parameter, gradient] : graph.gradients)
    if (graph.node(parameter).type.shape != graph.node(gradient).type.shape)
      broken.push_back("gradient of " + graph.node(parameter).name + " has another shape");
  for (const auto& [state, value] : graph.effects)
    if (graph.node(state).type != graph.node(value).type)
      broken.push_back("effect on " + graph.node(state).name + " has another type");
  return broken;
}

void set_same_padding(Window& window, const Shape& input) {
  window.pad_lo = window.pad_hi = Dims::filled(window.axes(), 0);
  for (int a = 0; a < window.axes(); ++a) {
    const std::int64_t extent = input[a + 1];
    const std::int64_t out = ceil_div(extent, window.stride[a]);
    const std::int64_t total = std::max<std::int64_t>(0, (out - 1) * window.stride[a] + window.span(a) - extent);
    window.pad_lo[a] = total / 2;
    window.pad_hi[a] = total - total / 2;
  }
}

}  // namespace voxshard
