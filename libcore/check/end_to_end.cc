#include "libcore/check/end_to_end.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/rng.h"
#include "libcore/check/equivalence.h"
#include "libcore/check/tolerance.h"

namespace voxshard {
namespace {

// times the change caused by moving the parameters by roundings, or the rounding of a sum
constexpr double kFactor = 8;
constexpr double kFloor = 0x1p-20;  // times the size of the compared value: a few roundings of f32
constexpr double kLearningRate = 0.01;

double rms(const Tensor& f64) {
  double sum = 0;
  for (std::int64_t i = 0; i < f64.count(); ++i) sum += f64.as<double>()[i] * f64.as<double>()[i];
  return std::sqrt(sum / static_cast<double>(std::max<std::int64_t>(1, f64.count())));
}

template <class T>
double rms_difference(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const double d = static_cast<double>(a.as<T>()[i]) - static_cast<double>(b.as<T>()[i]);
    sum += d * d;
  }
  return std::sqrt(sum / static_cast<double>(std::max<std::int64_t>(1, a.count())));
}

/// Returns the rms of the gradient of the weights that `name` belongs to ("encoder0/conv0/norm/beta" ->
/// ".../conv0/kernel").
double layer_scale(const Outcome& outcome, const std::string& name) {
  for (std::string layer = name; layer.find('/') != std::string::npos;) {
    layer.resize(layer.rfind('/'));
    if (const auto it = outcome.gradients.find(layer + "/kernel"); it != outcome.gradients.end())
      return rms(it->second);
  }
  return rms(outcome.gradients.at(name));
}

}  // namespace

Outcome outcome(CoreSet& cores) {
  const Graph& graph = cores.executable().program.graph;
  Outcome result{.loss = load(cores.replicated(graph.outputs.at("loss")), 0)};
  for (const auto& [parameter, gradient] : graph.gradients) {
    Tensor copy_of(DType::kF64, graph.node(gradient).type.shape);
    copy(cores.replicated(gradient), copy_of.view());
    result.gradients.emplace(graph.node(parameter).name, std::move(copy_of));
  }
  return result;
}

Parameters moved_by_roundings(const Parameters& parameters, double products, std::uint64_t seed) {
  const auto by = static_cast<float>(2 * epsilon_of(DType::kF32) * std::sqrt(products));
  Parameters moved = parameters;
  for (auto& [name, tensor] : moved) {
    const RngKey key{.seed = seed, .stream = rng_stream(name)};
    if (tensor.dtype() != DType::kF32) continue;
    for (std::int64_t i = 0; i < tensor.count(); ++i) {
      const bool up = (rng_bits(key, static_cast<std::uint64_t>(i)) & 1) != 0;
      tensor.as<float>()[i] *= up ? 1 + by : 1 - by;
    }
  }
  return moved;
}

Condition::Condition(const Outcome& uncut, const std::vector<Outcome>& moved)
    : measured_(!moved.empty()), loss_{.scale = std::abs(uncut.loss)} {
  double squares = 0;
  for (const auto& [name, gradient] : uncut.gradients) {
    Size& size = sizes_[name];
    size.scale = std::max(rms(gradient), layer_scale(uncut, name));
    for (const Outcome& m : moved)
      size.moves = std::max(size.moves, rms_difference<double>(gradient, m.gradients.at(name)));
    const double relative = size.scale > 0 ? size.moves / size.scale : 0;
    squares += relative * relative;
  }
  for (const Outcome& m : moved) loss_.moves = std::max(loss_.moves, std::abs(uncut.loss - m.loss));
  typical_ = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, sizes_.size())));
}

LongestSums longest_sums(const Graph& graph, const OpTable& ops) {
  LongestSums longest;
  for (ValueId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if (node.role != Role::kOp) continue;
    const OpDef& def = ops.at(node.op);
    const auto types = graph.input_types(id);
    if (def.driver >= 0) {
      const Shape& driver = types[def.driver].shape;
      longest.voxels = std::max(longest.voxels, static_cast<double>(element_count(driver)) /
                                                    static_cast<double>(std::max<std::int64_t>(1, driver.back())));
    } else {
      const Products p = work_of(def, {node.attrs, types, node.type}, Box::whole(node.type.shape)).products;
      longest.products = std::max(longest.products, p.count * p.inner);
    }
  }
  return longest;
}

void EndToEnd::cut(const Outcome& cut, bool reordered, const Parameters& parameters, Transport& transport) {
  reordered_ = reordered;
  report_.loss_uncut = uncut_.loss;
  report_.loss_cut = cut.loss;
  if (condition_.measured()) report_.condition = condition_.typical();
  check("loss", "loss", std::abs(uncut_.loss - cut.loss), allowance(condition_.loss_scale(), condition_.loss_moves()));
  for (const auto& [name, gradient] : uncut_.gradients)
    compare(name, gradient, cut.gradients.at(name), parameters.at(name));
  for (const Unequal& u : join_unequal(transport, unequal_)) {
    if (u.too_far()) report_.differ(u.found);
    report_.end_to_end_ratio = std::max(report_.end_to_end_ratio, u.ratio);
    report_.end_to_end_relative = std::max(report_.end_to_end_relative, u.relative);
  }
}

double EndToEnd::allowance(double scale, double moves) const {
  const double of_sums = kFactor * epsilon_of(DType::kF32) * std::sqrt(longest_.voxels) * scale;
  const double of_condition = kFactor * moves;
  return (reordered_ ? std::max(of_sums, of_condition) : of_sums) + kFloor * scale;
}

void EndToEnd::compare(const std::string& name, const Tensor& gradient, const Tensor& cut, const Tensor& parameter) {
  const double scale = condition_.scale(name), allowed = allowance(scale, condition_.moves(name));
  const double difference = rms_difference<double>(gradient, cut);
  check(name, "gradient", difference, allowed, scale > 0 ? difference / scale : 0);
  // w - rate * gradient in f32 may differ by the difference of the gradients and one rounding of the weight.
  Tensor a = parameter, b = parameter;
  double squares = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    a.as<float>()[i] -= static_cast<float>(kLearningRate) * static_cast<float>(gradient.as<double>()[i]);
    b.as<float>()[i] -= static_cast<float>(kLearningRate) * static_cast<float>(cut.as<double>()[i]);
    squares += static_cast<double>(a.as<float>()[i]) * static_cast<double>(a.as<float>()[i]);
  }
  const double size = std::sqrt(squares / static_cast<double>(std::max<std::int64_t>(1, a.count())));
  check(name, "updated weights", rms_difference<float>(a, b), kLearningRate * allowed + 0x1p-23 * size);
}

void EndToEnd::check(const std::string& layer, const char* what, double difference, double allowed, double relative) {
  ++report_.tensors;
  add(layer, what, difference, allowed, relative);
}

void EndToEnd::add(const std::string& layer, const char* what, double difference, double allowed, double relative) {
  ++place_;
  Worst worst;
  worst.add(difference, 0, allowed);
  if (difference != 0)
    unequal_.push_back(
        {.place = place_, .found = {layer, what, difference, allowed}, .ratio = worst.ratio, .relative = relative});
}

}  // namespace voxshard
