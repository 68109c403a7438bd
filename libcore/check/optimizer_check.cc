#include "libcore/check/optimizer_check.h"

#include <algorithm>
#include <cmath>

#include "libcore/check/tolerance.h"

namespace voxshard {
namespace {

constexpr int kSteps = 2;
constexpr double kRoundings = 16;  // allowed roundings of f32, in the weight and its slots
// allowed roundings in the value added to a weight: a root, a quotient, powers
constexpr double kFormulaRoundings = 64;
constexpr float kRate = 0.01F, kDecay = 1e-4F, kMomentum = 0.9F;

/// A parameter's weights and the optimizer's slots for it.
struct Values {
  std::vector<float> w, a, b;
  float scale = 1;  // scales the gradient to about 1, so that a step is larger than a rounding of the weights
};

struct Kind {
  const char* name;
  float first;  // initial value of the slots
  void (*step)(const OptimizerKernels& kernels, std::span<const float> g, Values& v);
};

constexpr Kind kKinds[] = {
    {"sgd", 0,
     [](const OptimizerKernels& k, std::span<const float> g, Values& v) {
       k.sgd(g, v.w, v.a, {.rate = kRate, .scale = v.scale, .decay = kDecay, .momentum = kMomentum, .nesterov = true});
     }},
    {"adam", 0,
     [](const OptimizerKernels& k, std::span<const float> g, Values& v) {
       k.adam(g, v.w, v.a, v.b,
              {.rate = kRate,
               .scale = v.scale,
               .decay = kDecay,
               .beta1 = 0.9F,
               .beta2 = 0.999F,
               .epsilon = 1e-8F,
               .corrected = kRate});
     }},
    {"adadelta", 0,
     [](const OptimizerKernels& k, std::span<const float> g, Values& v) {
       k.adadelta(g, v.w, v.a, v.b, {.rate = 1, .scale = v.scale, .decay = kDecay, .rho = 0.95F, .epsilon = 1e-6F});
     }},
    {"adagrad", 0.1F,
     [](const OptimizerKernels& k, std::span<const float> g, Values& v) {
       k.adagrad(g, v.w, v.a, {.rate = kRate, .scale = v.scale, .decay = kDecay});
     }},
    {"rmsprop", 0,
     [](const OptimizerKernels& k, std::span<const float> g, Values& v) {
       k.rmsprop(
           g, v.w, v.a, v.b,
           {.rate = kRate, .scale = v.scale, .decay = kDecay, .rho = 0.9F, .momentum = kMomentum, .epsilon = 1e-6F});
     }},
    // The weights stand for the average, and their gradient for the weights that join it.
    {"average", 0, [](const OptimizerKernels& k, std::span<const float> g, Values& v) { k.average(g, v.w, kRate); }}};

void compare_slot(Worst& worst, const std::vector<float>& found, const std::vector<float>& exact) {
  float largest = 0;
  for (float v : exact) largest = std::max(largest, std::abs(v));
  for (std::size_t i = 0; i < exact.size(); ++i)
    worst.add(found[i], exact[i], kRoundings * epsilon_of(DType::kF32) * largest);
}

/// Compares two steps of `kind` on one parameter.
Worst compare_steps(const Kind& kind, const OptimizerKernels& kernels, std::span<const float> w,
                    std::span<const float> g) {
  const Values first{
      {w.begin(), w.end()}, std::vector<float>(w.size(), kind.first), std::vector<float>(w.size(), kind.first)};
  Values found = first, exact = first;
  double squares = 0;
  for (float v : g) squares += static_cast<double>(v) * static_cast<double>(v);
  if (squares > 0) found.scale = exact.scale = static_cast<float>(std::sqrt(static_cast<double>(g.size()) / squares));
  for (int step = 0; step < kSteps; ++step) {
    kind.step(kernels, g, found);
    kind.step(reference::optimizer, g, exact);
  }
  Worst worst;
  const double epsilon = epsilon_of(DType::kF32);
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double size = std::abs(w[i]), added = std::abs(static_cast<double>(exact.w[i]) - static_cast<double>(w[i]));
    worst.add(found.w[i], exact.w[i], kRoundings * epsilon * size + kFormulaRoundings * epsilon * added);
  }
  compare_slot(worst, found.a, exact.a);
  compare_slot(worst, found.b, exact.b);
  return worst;
}

}  // namespace

LayerReport check_optimizers(const OptimizerKernels& kernels, const Parameters& parameters,
                             const std::map<std::string, Tensor>& gradients, WorkerPool& pool) {
  constexpr std::size_t kChecks = std::size(kKinds) + 1;  // plus one for the sum of squares
  std::vector<std::string> names;
  for (const auto& [name, gradient] : gradients) names.push_back(name);
  std::vector<Worst> worst(names.size() * kChecks);
  pool.run(std::ssize(names), [&](std::int64_t n, int) {
    const auto at = static_cast<std::size_t>(n);
    const Tensor &parameter = parameters.at(names[at]), &gradient = gradients.at(names[at]);
    const std::span<const float> w(parameter.as<float>(), static_cast<std::size_t>(parameter.count()));
    const std::vector<float> g(gradient.as<double>(), gradient.as<double>() + gradient.count());
    for (std::size_t k = 0; k < std::size(kKinds); ++k)
      worst[at * kChecks + k] = compare_steps(kKinds[k], kernels, w, g);
    const double sum = reference::optimizer.square_sum(g),
                 length = static_cast<double>(std::max<std::size_t>(1, g.size()));
    // Both sides round, each in its own order.
    worst[at * kChecks + std::size(kKinds)].add(
        kernels.square_sum(g), sum, 2 * sum_allowance({.length = length, .addend = sum / length}, DType::kF64));
  });
  LayerReport report;
  for (std::size_t i = 0; i < worst.size(); ++i) {
    const std::size_t kind = i % kChecks;
    ++report.compared;
    if (worst[i].too_far())
      report.differ({names[i / kChecks],
                     std::string("optimizer ") + (kind < std::size(kKinds) ? kKinds[kind].name : "norm"),
                     worst[i].difference, worst[i].allowed});
    worst[i].ratio == 0 ? ++report.bit_equal : ++report.within_tolerance;
    report.widest_ratio = std::max(report.widest_ratio, worst[i].ratio);
  }
  return report;
}

}  // namespace voxshard
