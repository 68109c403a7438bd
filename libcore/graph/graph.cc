#include "libcore/graph/graph.h"

namespace voxshard {

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

}  // namespace voxshard
