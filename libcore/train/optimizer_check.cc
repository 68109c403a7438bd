#include "libcore/train/optimizer_check.h"

#include <algorithm>
#include <cmath>

#include "libcore/train/tolerance.h"

namespace voxshard {
namespace {

constexpr std::int64_t kSteps = 2;  // the second finds slots that the first has written

/// Of a weight after both steps: some ten products, sums, a root and a division per step, each rounded by half a unit.
constexpr double kRoundings = 32;

constexpr std::int64_t kMostElements = 1 << 14;  // of a parameter
constexpr std::int64_t kVector = 16;             // elements of the widest register

using Tensors = std::map<std::string, Tensor>;

/// The last elements of a tensor, with as many beyond whole vectors as it has.
Tensor sample(const TensorView& dense) {
  const std::int64_t count = dense.count();
  const std::int64_t taken = count <= kMostElements ? count : kMostElements + count % kVector;
  Tensor last(DType::kF32, {taken});
  for (std::int64_t i = 0; i < taken; ++i) store(last.view(), i, load(dense, count - taken + i));
  return last;
}

void scale_to_one(Tensor& gradient) {
  double squares = 0;
  for (std::int64_t i = 0; i < gradient.count(); ++i) squares += load(gradient.view(), i) * load(gradient.view(), i);
  const double rms = std::sqrt(squares / static_cast<double>(std::max<std::int64_t>(1, gradient.count())));
  if (!std::isnormal(rms)) return;
  for (std::int64_t i = 0; i < gradient.count(); ++i) store(gradient.view(), i, load(gradient.view(), i) / rms);
}

Tensor magnitudes_of(const Tensor& values) {
  Tensor sizes(values.dtype(), values.shape());
  for (std::int64_t i = 0; i < values.count(); ++i) store(sizes.view(), i, std::abs(load(values.view(), i)));
  return sizes;
}

Gradients views(const Tensors& tensors) {
  Gradients gradients;
  for (const auto& [name, tensor] : tensors) gradients.emplace(name, tensor.view());
  return gradients;
}

/// Of optimizers, which ask a graph for its parameters alone.
Graph graph_of(const Tensors& weights) {
  Graph graph;
  for (const auto& [name, tensor] : weights) {
    Node node;
    node.role = Role::kParameter;
    node.name = name;
    node.type = {DType::kF32, tensor.shape()};
    graph.append(node);
  }
  return graph;
}

/// What two steps leave: weights and slots by name.
Tensors two_steps(const OptimizerOptions& options, const OptimizerKernels& kernels, Tensors weights,
                  const Tensors& gradients, WorkerPool& pool) {
  Optimizer optimizer(options, graph_of(weights), kernels);
  for (std::int64_t step = 0; step < kSteps; ++step) optimizer.update(pool, weights, views(gradients), 0, step, kSteps);
  for (auto& [name, slot] : optimizer.state()) weights.emplace(name, std::move(slot));
  return weights;
}

/// By how much a result may differ: roundings of the weight and of what all steps add to it, in magnitudes. Those are
/// the steps from a weight of 0 along |gradients|, where nothing cancels.
double allowed(double value, double size) {
  return kRoundings * epsilon_of(DType::kF32) * (std::abs(value) + std::abs(size)) + 0x1p-126;
}

std::optional<LayerDifference> first_difference(const Tensors& slow, const Tensors& fast, const Tensors& sizes,
                                                const std::string& what) {
  for (const auto& [name, exact] : slow) {
    Worst worst;
    const Tensor &found = fast.at(name), &size = sizes.at(name);
    for (std::int64_t i = 0; i < exact.count(); ++i) {
      const double value = load(exact.view(), i);
      worst.add(load(found.view(), i), value, allowed(value, load(size.view(), i)));
    }
    if (worst.too_far()) return LayerDifference{name, what, worst.difference, worst.allowed};
  }
  return {};
}

std::optional<LayerDifference> norm_difference(const Gradients& gradients, const OptimizerKernels& kernels) {
  for (const auto& [name, gradient] : gradients) {
    const std::span<const float> g{gradient.as<const float>(), static_cast<std::size_t>(gradient.count())};
    const double exact = reference::optimizer.square_sum(g), found = kernels.square_sum(g);
    Worst worst;  // squares of f32 are exact in f64, and none cancels
    worst.add(found, exact, static_cast<double>(g.size()) * epsilon_of(DType::kF64) * exact);
    if (worst.too_far()) return LayerDifference{name, "global norm", worst.difference, worst.allowed};
  }
  return {};
}

}  // namespace

std::optional<LayerDifference> check_optimizers(const Parameters& parameters, const Gradients& gradients,
                                                WorkerPool& pool, const OptimizerKernels& kernels) {
  Tensors weights, zeros, sampled, magnitudes;
  for (const auto& [name, gradient] : gradients) {
    weights.emplace(name, sample(parameters.at(name).view()));
    Tensor& values = sampled.emplace(name, sample(gradient)).first->second;
    scale_to_one(values);
    magnitudes.emplace(name, magnitudes_of(values));
    zeros.emplace(name, Tensor(DType::kF32, values.shape()));
  }
  if (const auto found = norm_difference(views(sampled), kernels)) return found;
  for (std::size_t kind = 0; kind < std::size(kOptimizerNames); ++kind) {
    const OptimizerOptions options{.kind = static_cast<OptimizerKind>(kind), .learning_rate = 0.01};
    const Tensors slow = two_steps(options, reference::optimizer, weights, sampled, pool);
    const Tensors fast = two_steps(options, kernels, weights, sampled, pool);
    const Tensors sizes = two_steps(options, reference::optimizer, zeros, magnitudes, pool);
    if (const auto found = first_difference(slow, fast, sizes, std::string("optimizer ") + kOptimizerNames[kind]))
      return found;
  }
  return {};
}

}  // namespace voxshard
