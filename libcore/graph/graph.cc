#include "libcore/graph/graph.h"

#include <charconv>
#include <sstream>

namespace voxshard {
namespace {

std::string value_text(std::int64_t value) { return std::to_string(value); }
std::string value_text(int value) { return std::to_string(value); }
std::string value_text(DType value) { return dtype_name(value); }
std::string value_text(LossKind value) { return kLossNames[static_cast<std::size_t>(value)]; }
std::string value_text(const Dims& value) { return to_string(value); }
std::string value_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};  // the shortest that reads back as the same number
}

/// " name=value" for what is not as a family's attributes begin.
template <class Family>
std::string attributes_text(const Family& attrs) {
  std::vector<std::string> begin;
  std::string text;
  const Family defaults;
  Family::each(defaults, [&]<class T>(const char*, const T& field) {
    if constexpr (!std::is_same_v<T, Window>) begin.push_back(value_text(field));
  });
  std::size_t at = 0;
  Family::each(attrs, [&]<class T>(const char* name, const T& field) {
    if constexpr (std::is_same_v<T, Window>) {
      if (field.rank() > 0)
        text += " kernel=" + to_string(field.kernel) + " stride=" + to_string(field.stride) + " dilation=" +
                to_string(field.dilation) + " pad=" + to_string(field.pad_lo) + "/" + to_string(field.pad_hi);
    } else {
      const std::string value = value_text(field);
      if (value != begin[at++]) text += std::string(" ") + name + "=" + value;
    }
  });
  return text;
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
    out << std::visit([](const auto& attrs) { return attributes_text(attrs); }, n.attrs) << " : " << to_string(n.type) << "\n";
  }
  for (const auto& [name, id] : graph.outputs) out << "output " << name << " = %" << id << "\n";
  for (const auto& [parameter, gradient] : graph.gradients)
    out << "gradient " << graph.node(parameter).name << " = %" << gradient << "\n";
  for (const auto& [state, value] : graph.effects) out << "effect " << graph.node(state).name << " <- %" << value << "\n";
  return out.str();
}

}  // namespace voxshard
