#include "libcore/graph/graph.h"

#include <sstream>

namespace voxshard {
namespace {

std::string attributes_text(const Attributes& a) {
  const Attributes none;
  std::ostringstream out;
  if (a.window.rank() > 0) {
    out << " kernel=" << to_string(a.window.kernel) << " stride=" << to_string(a.window.stride)
        << " dilation=" << to_string(a.window.dilation) << " pad=" << to_string(a.window.pad_lo) << "/"
        << to_string(a.window.pad_hi);
  }
  if (!a.factor.empty()) out << " factor=" << to_string(a.factor);
  if (a.axis != none.axis) out << " axis=" << a.axis;
  if (a.offset != none.offset) out << " offset=" << a.offset;
  if (a.parts != none.parts) out << " parts=" << a.parts;
  if (a.groups != none.groups) out << " groups=" << a.groups;
  if (a.slope != none.slope) out << " slope=" << a.slope;
  if (a.epsilon != none.epsilon) out << " epsilon=" << a.epsilon;
  if (a.number != none.number) out << " number=" << a.number;
  if (a.alpha != none.alpha) out << " alpha=" << a.alpha;
  if (a.gamma != none.gamma) out << " gamma=" << a.gamma;
  if (a.delta != none.delta) out << " delta=" << a.delta;
  if (a.kind != none.kind) out << " kind=" << a.kind;
  return out.str();
}

const char* role_text(Role role) {
  switch (role) {
    case Role::kInput: return "input";
    case Role::kParameter: return "parameter";
    case Role::kState: return "state";
    case Role::kOp: break;
  }
  return "";
}

}  // namespace

std::string to_string(const TensorType& type) {
  return std::string(dtype_name(type.dtype)) + "[" + to_string(type.shape) + "]";
}

ValueId Graph::append(Node node) {
  const ValueId id = size();
  ensure(by_name_.emplace(node.name, id).second, ("two nodes are named " + node.name).c_str());
  nodes_.push_back(std::move(node));
  return id;
}

std::vector<TensorType> Graph::input_types(ValueId id) const {
  std::vector<TensorType> types;
  for (ValueId i : node(id).inputs) types.push_back(node(i).type);
  return types;
}

ValueId Graph::find(const std::string& name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? kNoValue : it->second;
}

std::string to_text(const Graph& graph) {
  std::ostringstream out;
  for (ValueId id = 0; id < graph.size(); ++id) {
    const Node& n = graph.node(id);
    out << "%" << id << " " << n.name << " = " << (n.role == Role::kOp ? n.op : role_text(n.role));
    for (std::size_t i = 0; i < n.inputs.size(); ++i) out << (i ? ", %" : " %") << n.inputs[i];
    out << attributes_text(n.attrs) << " : " << to_string(n.type) << "\n";
  }
  for (const auto& [name, id] : graph.outputs) out << "output " << name << " = %" << id << "\n";
  for (const auto& [parameter, gradient] : graph.gradients)
    out << "gradient " << graph.node(parameter).name << " = %" << gradient << "\n";
  for (const auto& [state, value] : graph.effects) out << "effect " << graph.node(state).name << " <- %" << value << "\n";
  return out.str();
}

}  // namespace voxshard
