// The graph of a model in global shapes: an append-only list of nodes, each with one result. It knows nothing of cores.
//
//   Graph g; Builder b(g, ops); ValueId x = b.input("image", {DType::kF32, {1, 48, 40, 56, 1}});
//   to_text(g)  ->  "%0 image = input : f32[1x48x40x56x1]"      (text.h)
//
// Made by models/ through Builder, extended by autodiff, read by partition/.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "libcore/graph/attributes.h"
#include "libcore/graph/initial.h"
#include "libcore/graph/input_info.h"

namespace voxshard {

using ValueId = std::int32_t;
inline constexpr ValueId kNoValue = -1;

struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;
  std::int64_t bytes() const { return element_count(shape) * dtype_bytes(dtype); }
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// "bf16[1x48x40x56x8]".
std::string to_string(const TensorType& type);

/// All extents but the channels; tensors with the same cut agree on them.
Shape leading(const Shape& shape);

enum class Role : std::uint8_t {
  kOp,         // computed
  kInput,      // fed by the host each step, cut over the cores
  kParameter,  // held by every core, trained
  kState,      // held by every core, not trained (running statistics)
};

struct Node {
  Role role = Role::kOp;
  std::string op;    // a name in the op table; empty unless role is kOp
  std::string name;  // unique path, e.g. "encoder0/conv1"
  std::vector<ValueId> inputs;
  Attributes attrs;
  TensorType type;
  InputInfo input;          // of an input
  ParameterInfo parameter;  // of a parameter; a state uses only its initial value
  /// The value whose cut it takes where that one is cut: an up-sampled tensor follows its skip, a gradient its value, a
  /// target its prediction. kNoValue: an op takes the cut of its first cut input, an input is cut like the mesh.
  ValueId follows = kNoValue;
  friend bool operator==(const Node&, const Node&) = default;
};

class Graph {
 public:
  ValueId append(Node node);
  /// Makes `id` take the cut of the earlier value `other`, which has the same extents but for the channels.
  void follow(ValueId id, ValueId other);
  void set_attributes(ValueId id, Attributes attrs) { nodes_[id].attrs = std::move(attrs); }
  const Node& node(ValueId id) const { return nodes_[id]; }
  const std::deque<Node>& nodes() const { return nodes_; }
  ValueId size() const { return static_cast<ValueId>(nodes_.size()); }
  std::vector<TensorType> input_types(ValueId id) const;
  /// The node of that name or kNoValue.
  ValueId find(const std::string& name) const;

  // The results of a run. Values named here stay alive to the end of the step.
  std::map<std::string, ValueId> outputs;            // "loss", "logits"
  std::map<ValueId, ValueId> gradients;              // parameter -> d loss / d parameter
  std::vector<std::pair<ValueId, ValueId>> effects;  // state <- value, applied after the step
  /// d loss / d loss: everything that depends on it is the backward pass. Set by differentiate(); kNoValue in a graph
  /// without one.
  ValueId backward_root = kNoValue;

  friend bool operator==(const Graph&, const Graph&) = default;

 private:
  std::deque<Node> nodes_;  // grows without moving: a reference to a node or its type stays valid while ops are added
  std::map<std::string, ValueId> by_name_;
};

}  // namespace voxshard
