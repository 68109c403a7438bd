#include "libcore/train/initialise.h"

#include "libcore/base/rng.h"

namespace voxshard {
namespace {

/// The standard deviation of a standard normal truncated at two deviations. Kernels are divided by it, so that they
/// keep the variance intended for a sum of `in` inputs, as tf.variance_scaling_initializer does.
constexpr double kCutDeviation = 0.87962566103423978;

/// Returns a truncated normal value: it is drawn again while it lies beyond two deviations.
double cut_normal(const RngKey& key, std::uint64_t index) {
  RngKey draw = key;
  double value = rng_normal(draw, index);
  while (std::abs(value) > 2) {
    draw.stream = rng_mix(draw.stream + 1);
    value = rng_normal(draw, index);
  }
  return value;
}

/// Fills an initial tensor, value by value.
struct Fill {
  const Shape& shape;  // kernels: (K..., in, out)
  RngKey key;
  Tensor& tensor;

  void each(auto value) const {
    for (std::int64_t i = 0; i < tensor.count(); ++i)
      tensor.as<float>()[i] = static_cast<float>(value(static_cast<std::uint64_t>(i)));
  }

  void operator()(const initial::Constant& begins) const {
    each([&](std::uint64_t) { return begins.value; });
  }
  void operator()(const initial::GlorotUniform&) const {
    const std::int64_t in = shape[shape.axes() - 2], out = shape.back();
    const double volume = static_cast<double>(tensor.count() / (in * out));
    const double limit = std::sqrt(6.0 / (volume * static_cast<double>(in + out)));
    each([&](std::uint64_t i) { return (2 * rng_uniform(key, i) - 1) * limit; });
  }
  void operator()(const initial::Normal& begins) const {
    each([&](std::uint64_t i) { return begins.deviation * rng_normal(key, i); });
  }
  void operator()(const initial::VarianceScaling& begins) const {
    const std::int64_t inputs = tensor.count() / std::max<std::int64_t>(1, shape.back());
    const double deviation =
        std::sqrt(begins.scale / static_cast<double>(std::max<std::int64_t>(1, inputs))) / kCutDeviation;
    each([&](std::uint64_t i) { return deviation * cut_normal(key, i); });
  }
  void operator()(const initial::UnitMoments&) const {
    each([&](std::uint64_t i) { return i % 2 == 0 ? 0.0 : 1.0; });
  }
};

Tensor initial_of(const Node& node, std::uint64_t seed) {
  Tensor tensor(DType::kF32, node.type.shape);
  std::visit(Fill{node.type.shape, {seed, rng_stream(node.name)}, tensor}, node.parameter.begins);
  return tensor;
}

bool is_held(const Node& node) { return node.role == Role::kParameter || node.role == Role::kState; }

}  // namespace

Parameters initialise(const Graph& graph, std::uint64_t seed) {
  Parameters parameters;
  for (const Node& node : graph.nodes())
    if (is_held(node)) parameters.emplace(node.name, initial_of(node, seed));
  return parameters;
}

void require_parameters_of(const Graph& graph, const Parameters& parameters) {
  auto fail = [](const std::string& what) {
    return Error(
        ErrorKind::kCheckpoint,
        "[checkpoint] " + what + "; it belongs to another model: give the options it was trained with, or train anew");
  };
  std::size_t expected = 0;
  for (const Node& node : graph.nodes()) {
    if (!is_held(node)) continue;
    ++expected;
    const auto it = parameters.find(node.name);
    if (it == parameters.end()) throw fail("the tensor " + node.name + " is missing");
    if (it->second.shape() != node.type.shape || it->second.dtype() != node.type.dtype)
      throw fail("the tensor " + node.name + " is " + to_string(TensorType{it->second.dtype(), it->second.shape()}) +
                 ", the model expects " + to_string(node.type));
  }
  if (parameters.size() == expected) return;
  for (const auto& [name, tensor] : parameters)
    if (const ValueId id = graph.find(name); id == kNoValue || !is_held(graph.node(id)))
      throw fail("it holds the tensor " + name + ", which the model does not have");
}

}  // namespace voxshard
