#include "libcore/train/initialise.h"

#include "libcore/base/rng.h"
#include "libcore/models/layers.h"

namespace voxshard {
namespace {

/// The deviation of a standard normal cut at two deviations: with the variance of a sum of `in` inputs in mind, the kernel is
/// divided by it, as tf.variance_scaling_initializer does.
constexpr double kCutDeviation = 0.87962566103423978;

/// Normal, drawn again where it is beyond two deviations.
double cut_normal(const RngKey& key, std::uint64_t index) {
  RngKey draw = key;
  double value = rng_normal(draw, index);
  while (std::abs(value) > 2) {
    draw.stream = rng_mix(draw.stream + 1);
    value = rng_normal(draw, index);
  }
  return value;
}

void fill_as_told(const Node& node, const RngKey& key, Tensor& tensor) {
  const double number = node.attrs.number;
  const auto rule = static_cast<Initial::Rule>(node.attrs.kind);
  const std::int64_t inputs = tensor.count() / std::max<std::int64_t>(1, node.type.shape.back());
  const double deviation = std::sqrt(number / static_cast<double>(std::max<std::int64_t>(1, inputs))) / kCutDeviation;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    const double value = rule == Initial::Rule::kConstant ? number
                         : rule == Initial::Rule::kNormal ? number * rng_normal(key, index)
                                                          : deviation * cut_normal(key, index);
    tensor.as<float>()[i] = static_cast<float>(value);
  }
}

Tensor initial(const Node& node, std::uint64_t seed) {
  Tensor tensor(DType::kF32, node.type.shape);
  auto* values = tensor.as<float>();
  if (static_cast<Initial::Rule>(node.attrs.kind) != Initial::Rule::kByName) {
    fill_as_told(node, {seed, rng_stream(node.name)}, tensor);
  } else if (node.name.ends_with("/kernel")) {
    const int rank = node.type.shape.rank();
    const std::int64_t in = node.type.shape[rank - 2], out = node.type.shape[rank - 1];
    const double volume = static_cast<double>(tensor.count() / (in * out));
    const double limit = std::sqrt(6.0 / (volume * static_cast<double>(in + out)));  // Glorot and Bengio 2010
    const RngKey key{seed, rng_stream(node.name)};
    for (std::int64_t i = 0; i < tensor.count(); ++i)
      values[i] = static_cast<float>((2 * rng_uniform(key, static_cast<std::uint64_t>(i)) - 1) * limit);
  } else if (node.name.ends_with("/gamma")) {
    for (std::int64_t i = 0; i < tensor.count(); ++i) values[i] = 1;
  } else if (node.name.ends_with("/moments")) {
    for (std::int64_t i = 1; i < tensor.count(); i += 2) values[i] = 1;
  }
  return tensor;
}

bool is_held(const Node& node) { return node.role == Role::kParameter || node.role == Role::kState; }

}  // namespace

Parameters initialise(const Graph& graph, std::uint64_t seed) {
  Parameters parameters;
  for (const Node& node : graph.nodes())
    if (is_held(node)) parameters.emplace(node.name, initial(node, seed));
  return parameters;
}

void require_parameters_of(const Graph& graph, const Parameters& parameters) {
  auto fail = [](const std::string& what) {
    return Error(ErrorKind::kCheckpoint, "[checkpoint] " + what +
                                             "; it belongs to another model: give the options it was trained with, or train anew");
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
