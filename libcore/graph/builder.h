// Appends nodes to a graph: infers types, makes names unique, checks what users can get wrong.
//
//   Builder b(graph, ops);
//   ValueId y = b.op("conv", {x, w}, ConvAttrs{.window = same_window(...)}, "encoder0/conv0");
#pragma once

#include <string>
#include <vector>

#include "libcore/graph/op_def.h"

namespace voxshard {

class Builder {
 public:
  Builder(Graph& graph, const OpTable& ops) : graph_(graph), ops_(ops) {}

  ValueId input(const std::string& name, TensorType type, const InputInfo& info = {});
  ValueId parameter(const std::string& name, TensorType type, const ParameterInfo& info = {});
  ValueId state(const std::string& name, TensorType type, const Initial& begins = {});
  /// `attrs` is the struct of the op's family; {}: its defaults. Errors: kConfig "[name] what is wrong" from the op's
  /// shape rule.
  ValueId op(const std::string& op, std::vector<ValueId> inputs, Attributes attrs, const std::string& name);

  const Graph& graph() const { return graph_; }
  Graph& graph() { return graph_; }
  const OpTable& ops() const { return ops_; }
  const TensorType& type(ValueId id) const { return graph_.node(id).type; }

 private:
  std::string unique(const std::string& name) const;
  Graph& graph_;
  const OpTable& ops_;
};

/// Returns every broken invariant of a graph, one line each; empty for a valid graph. Inputs must come before their
/// use, types must be what the ops infer, gradients must have their parameter's shape, effects their state's type.
std::vector<std::string> verify(const Graph& graph, const OpTable& ops);

/// SAME padding as explicit padding for an input extent (TensorFlow's rule: the odd one goes to the high side).
///   example: extent 37, kernel 2, stride 2 -> output 19, pad 0/1
void set_same_padding(Window& window, const Shape& input);

}  // namespace voxshard
