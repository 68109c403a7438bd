#include "libcore/check/random_values.h"

#include "libcore/base/rng.h"
#include "libcore/train/initialise.h"

namespace voxshard {
namespace {

/// Draws a random value for each kind of input: an intensity, a class, whether a class is known (one besides the
/// background always is, so that the sample teaches something), or the class or the coded box of an anchor (most
/// anchors have no object).
struct RandomValue {
  static constexpr double kAnchorsIgnored = 0.1, kAnchorsWithoutObject = 0.6;
  RngKey key;
  std::uint64_t index;
  std::int64_t columns;  // of a row of the input

  double chance() const { return rng_uniform({key.seed, rng_mix(key.stream)}, index); }
  double operator()(const input::Any&) const { return rng_normal(key, index); }
  double operator()(const input::Image&) const { return rng_normal(key, index); }
  double operator()(const input::Labels& labels) const {
    return static_cast<double>(rng_below(key, index, labels.classes));
  }
  double operator()(const input::Known&) const {
    const auto row = static_cast<std::int64_t>(index) / columns, column = static_cast<std::int64_t>(index) % columns;
    const RngKey of_row{key.seed, rng_mix(key.stream)};
    const bool always = columns > 1 && column == 1 + rng_below(of_row, static_cast<std::uint64_t>(row), columns - 1);
    return always ? 1 : static_cast<double>(rng_below(key, index, 2));
  }
  double operator()(const input::ClassTargets& targets) const {
    if (chance() < kAnchorsIgnored) return static_cast<double>(targets.ignored);
    if (chance() < kAnchorsIgnored + kAnchorsWithoutObject) return static_cast<double>(targets.background);
    return static_cast<double>(rng_below(key, index, targets.classes));
  }
  double operator()(const input::BoxTargets&) const {
    return chance() < kAnchorsWithoutObject ? 0 : 0.2 * rng_normal(key, index);
  }
  double operator()(const input::Draw&) const { return static_cast<double>(rng_below(key, index, 1000)); }
};

}  // namespace

std::map<std::string, Tensor> random_inputs(const Graph& graph, DType dtype, std::uint64_t seed) {
  std::map<std::string, Tensor> inputs;
  for (const Node& node : graph.nodes()) {
    if (node.role != Role::kInput) continue;
    Tensor tensor(is_float(node.type.dtype) ? dtype : node.type.dtype, node.type.shape);
    const TensorView view = tensor.view();
    for (std::int64_t i = 0; i < tensor.count(); ++i)
      store(
          view, i,
          std::visit(RandomValue{{seed, rng_stream(node.name)}, static_cast<std::uint64_t>(i), node.type.shape.back()},
                     node.input));
    inputs.emplace(node.name, std::move(tensor));
  }
  return inputs;
}

Parameters random_parameters(const Graph& graph, std::uint64_t seed) {
  Parameters parameters = initialise(graph, seed);
  for (const Node& node : graph.nodes()) {
    if (node.role != Role::kParameter || !std::holds_alternative<initial::Constant>(node.parameter.begins)) continue;
    Tensor& tensor = parameters.at(node.name);
    for (std::int64_t i = 0; i < tensor.count(); ++i)
      tensor.as<float>()[i] +=
          static_cast<float>(0.2 * rng_uniform({seed, rng_stream(node.name)}, static_cast<std::uint64_t>(i)) - 0.1);
  }
  return parameters;
}

void feed(CoreSet& cores, const std::map<std::string, Tensor>& inputs) {
  const Graph& graph = cores.executable().program.graph;
  for (ValueId id = 0; id < graph.size(); ++id)
    if (graph.node(id).role == Role::kInput)
      cores.feed(id, [&](const TensorView& box) { copy(inputs.at(graph.node(id).name).view(), box); });
}

}  // namespace voxshard
