#include "libcore/graph/recompute.h"

#include <algorithm>

namespace voxshard {
namespace {

constexpr const char* kNames[] = {"none", "norms", "upsampling", "levels"};

// A recomputed result also serves later readers while they are near: about two layers of a backward pass. Farther
// readers get their own copy, so that it does not occupy memory in between (a skip: at its decoder, then at its
// encoder).
constexpr int kNear = 16;

using Flags = std::vector<bool>;
std::size_t at(ValueId id) { return static_cast<std::size_t>(id); }

Flags backward_nodes(const Graph& graph) {
  Flags backward(at(graph.size()), false);
  backward[at(graph.backward_root)] = true;
  for (ValueId id = 0; id < graph.size(); ++id)
    for (ValueId input : graph.node(id).inputs)
      if (backward[at(input)]) backward[at(id)] = true;
  return backward;
}

/// Marks the forward results that the backward pass recomputes.
Flags recomputed(const Graph& graph, const OpTable& ops, const Flags& backward, Recompute recompute) {
  Flags again(at(graph.size()), false);
  std::vector<int> forward_readers(at(graph.size()), 0);
  for (ValueId id = 0; id < graph.size(); ++id)
    if (!backward[at(id)])
      for (ValueId input : graph.node(id).inputs) ++forward_readers[at(input)];
  Flags fixed(at(graph.size()), false);      // read from outside
  Flags of_sample(at(graph.size()), false);  // depends on more than parameters
  for (const auto& [name, id] : graph.outputs) fixed[at(id)] = true;
  for (const auto& [state, id] : graph.effects) fixed[at(id)] = true;
  for (ValueId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    of_sample[at(id)] = node.role == Role::kInput;
    for (ValueId input : node.inputs) of_sample[at(id)] = of_sample[at(id)] || of_sample[at(input)];
    if (node.role != Role::kOp || !of_sample[at(id)] || backward[at(id)] || fixed[at(id)] ||
        ops.at(node.op).driver >= 0)
      continue;
    std::int64_t largest = 0;
    for (ValueId input : node.inputs)
      if (of_sample[at(input)]) largest = std::max(largest, graph.node(input).type.bytes());
    const auto types = graph.input_types(id);
    const double taps =
        work_of(ops.at(node.op), {node.attrs, types, node.type}, Box::whole(node.type.shape)).products.count;
    const bool cheap = taps == 0 || (recompute >= Recompute::kUpsampling && taps <= 1);
    const bool levels = recompute == Recompute::kLevels && !(forward_readers[at(id)] > 1 && taps == 0);
    again[at(id)] = node.type.bytes() >= largest && (recompute == Recompute::kLevels ? levels : cheap);
  }
  return again;
}

class Rewrite {
 public:
  Rewrite(const Graph& from, const Flags& backward, const Flags& again)
      : from_(from),
        backward_(backward),
        again_(again),
        moved_(at(from.size()), kNoValue),
        clones_(at(from.size())),
        follows_(at(from.size())) {}

  Graph run() {
    const ValueId seed = from_.backward_root;  // all before it is the forward pass
    for (ValueId id = seed; id < from_.size(); ++id) {
      const auto& inputs = from_.node(id).inputs;
      if (!backward_[at(id)] && !inputs.empty())
        follows_[at(*std::max_element(inputs.begin(), inputs.end()))].push_back(id);
    }
    for (ValueId id = 0; id < seed; ++id) append_forward(id);
    for (ValueId id = seed; id < from_.size(); ++id) {
      if (moved_[at(id)] != kNoValue) continue;
      ++step_;
      append_backward(id);
    }
    for (const auto& [name, id] : from_.outputs) to_.outputs[name] = moved_[at(id)];
    for (const auto& [parameter, id] : from_.gradients) to_.gradients[moved_[at(parameter)]] = moved_[at(id)];
    for (const auto& [state, id] : from_.effects) to_.effects.emplace_back(moved_[at(state)], moved_[at(id)]);
    to_.backward_root = moved_[at(from_.backward_root)];
    return std::move(to_);
  }

 private:
  struct Clone {
    ValueId id = kNoValue;
    int used = 0;   // number of the backward step that read it last
    int count = 0;  // copies made so far
  };

  void move_follows(Node& node) const {
    if (node.follows != kNoValue) node.follows = moved_[at(node.follows)];
  }

  void append_forward(ValueId id) {
    Node node = from_.node(id);
    for (ValueId& input : node.inputs) input = moved_[at(input)];
    move_follows(node);
    moved_[at(id)] = to_.append(std::move(node));
    for (ValueId late : follows_[at(id)]) append_forward(late);
  }

  void append_backward(ValueId id) {
    Node node = from_.node(id);
    for (ValueId& input : node.inputs) input = for_backward(input);
    move_follows(node);
    moved_[at(id)] = to_.append(std::move(node));
  }

  /// Returns the value itself, or its recomputed copy.
  ValueId for_backward(ValueId id) {
    if (!again_[at(id)]) return moved_[at(id)];
    Clone& clone = clones_[at(id)];
    if (clone.id == kNoValue || step_ - clone.used > kNear) {
      Node node = from_.node(id);
      for (ValueId& input : node.inputs) input = for_backward(input);
      move_follows(node);
      ++clone.count;
      node.name = "recompute" + (clone.count > 1 ? std::to_string(clone.count) : std::string()) + "/" + node.name;
      clone.id = to_.append(std::move(node));
    }
    clone.used = step_;
    return clone.id;
  }

  const Graph& from_;
  const Flags& backward_;
  const Flags& again_;
  Graph to_;
  std::vector<ValueId> moved_;
  std::vector<Clone> clones_;
  // Forward results that only the backward pass reads (the index of a maximum) are made right after their last input.
  std::vector<std::vector<ValueId>> follows_;
  int step_ = 0;
};

}  // namespace

const char* recompute_name(Recompute recompute) { return kNames[static_cast<std::size_t>(recompute)]; }

Recompute recompute_from_name(std::string_view name) {
  std::string names;
  for (Recompute choice : kRecomputeChoices) {
    if (name == recompute_name(choice)) return choice;
    names += std::string(names.empty() ? "" : ", ") + recompute_name(choice);
  }
  throw Error(ErrorKind::kConfig, "[config] what is recomputed is \"" + std::string(name) + "\"; expected " + names);
}

Graph with_recomputation(const Graph& graph, const OpTable& ops, Recompute recompute) {
  if (graph.backward_root == kNoValue || recompute == Recompute::kNone) return graph;
  const Flags backward = backward_nodes(graph);
  const Flags again = recomputed(graph, ops, backward, recompute);
  return Rewrite(graph, backward, again).run();
}

Graph with_made_again(const Graph& graph, const std::vector<bool>& again) {
  if (graph.backward_root == kNoValue) return graph;
  const Flags backward = backward_nodes(graph);
  Flags forward_readers(at(graph.size()), false), masked(at(graph.size()), false);
  for (ValueId id = 0; id < graph.size(); ++id)
    if (!backward[at(id)])
      for (ValueId input : graph.node(id).inputs) forward_readers[at(input)] = true;
  for (ValueId id = 0; id < graph.size(); ++id)
    masked[at(id)] = again[at(id)] && !backward[at(id)] && forward_readers[at(id)];
  return Rewrite(graph, backward, masked).run();
}

}  // namespace voxshard
