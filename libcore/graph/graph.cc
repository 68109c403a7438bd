#include "libcore/graph/graph.h"

namespace voxshard {

std::string to_string(const TensorType& type) {
  return std::string(dtype_name(type.dtype)) + "[" + to_string(type.shape) + "]";
}

Shape leading(const Shape& shape) {
  Shape extents;
  for (int a = 0; a + 1 < shape.axes(); ++a) extents.push_back(shape[a]);
  return extents;
}

ValueId Graph::append(Node node) {
  const ValueId id = size();
  ensure(by_name_.emplace(node.name, id).second, ("two nodes are named " + node.name).c_str());
  nodes_.push_back(std::move(node));
  return id;
}

void Graph::follow(ValueId id, ValueId other) {
  ensure(other < id && leading(node(id).type.shape) == leading(node(other).type.shape),
         "a value follows an earlier one of its extents");
  nodes_[id].follows = other;
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
