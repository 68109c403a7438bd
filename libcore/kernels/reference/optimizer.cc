// The optimizers' steps element by element, in double.
#include "libcore/kernels/optimizer.h"

#include <cmath>

namespace voxshard::reference {
namespace {

void sgd(std::span<const float> g, std::span<float> w, std::span<float> u, const SgdStep& s) {
  const double rate = s.rate, scale = s.scale, decay = s.decay, momentum = s.momentum;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double d = scale * g[i] + decay * w[i], slot = u.empty() ? d : momentum * u[i] + d;
    if (!u.empty()) u[i] = static_cast<float>(slot);
    w[i] = static_cast<float>(w[i] - rate * (s.nesterov && !u.empty() ? d + momentum * slot : slot));
  }
}

void adam(std::span<const float> g, std::span<float> w, std::span<float> m, std::span<float> v, const AdamStep& s) {
  const double rate = s.rate, scale = s.scale, decay = s.decay, beta1 = s.beta1, beta2 = s.beta2;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double d = scale * g[i], mean = beta1 * m[i] + (1 - beta1) * d, square = beta2 * v[i] + (1 - beta2) * d * d;
    m[i] = static_cast<float>(mean);
    v[i] = static_cast<float>(square);
    w[i] = static_cast<float>(w[i] - s.corrected * mean / (std::sqrt(square) + s.epsilon) - rate * decay * w[i]);
  }
}

void adadelta(std::span<const float> g, std::span<float> w, std::span<float> square, std::span<float> update,
              const AdadeltaStep& s) {
  const double scale = s.scale, decay = s.decay, rho = s.rho;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double d = scale * g[i] + decay * w[i], v = rho * square[i] + (1 - rho) * d * d;
    const double x = d * std::sqrt(static_cast<double>(update[i]) + s.epsilon) / std::sqrt(v + s.epsilon);
    square[i] = static_cast<float>(v);
    update[i] = static_cast<float>(rho * update[i] + (1 - rho) * x * x);
    w[i] = static_cast<float>(w[i] - s.rate * x);
  }
}

void adagrad(std::span<const float> g, std::span<float> w, std::span<float> square, const AdagradStep& s) {
  const double scale = s.scale, decay = s.decay;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double d = scale * g[i] + decay * w[i], v = square[i] + d * d;
    square[i] = static_cast<float>(v);
    w[i] = static_cast<float>(w[i] - s.rate * d / std::sqrt(v));
  }
}

void rmsprop(std::span<const float> g, std::span<float> w, std::span<float> square, std::span<float> u,
             const RmspropStep& s) {
  const double scale = s.scale, decay = s.decay, rho = s.rho, momentum = s.momentum;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double d = scale * g[i] + decay * w[i], v = rho * square[i] + (1 - rho) * d * d;
    const double x = (u.empty() ? 0.0 : momentum * u[i]) + s.rate * d / std::sqrt(v + s.epsilon);
    square[i] = static_cast<float>(v);
    if (!u.empty()) u[i] = static_cast<float>(x);
    w[i] = static_cast<float>(w[i] - x);
  }
}

void average(std::span<const float> w, std::span<float> average, float rate) {
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double before = average[i];
    average[i] = static_cast<float>(before + static_cast<double>(rate) * (w[i] - before));
  }
}

double square_sum(std::span<const float> g) {
  double sum = 0;
  for (const double value : g) sum += value * value;
  return sum;
}

}  // namespace

constinit const OptimizerKernels optimizer = {.sgd = sgd,
                                              .adam = adam,
                                              .adadelta = adadelta,
                                              .adagrad = adagrad,
                                              .rmsprop = rmsprop,
                                              .average = average,
                                              .square_sum = square_sum};

}  // namespace voxshard::reference
