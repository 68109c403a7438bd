// The optimizers' steps in f32; sums of squares in f64, in lanes whose order is fixed.
#include "libcore/kernels/optimizer.h"

#include <cmath>

namespace voxshard::fast {
namespace {

void sgd(std::span<const float> g, std::span<float> w, std::span<float> u, const SgdStep& s) {
  if (u.empty()) {
    for (std::size_t i = 0; i < g.size(); ++i) w[i] -= s.rate * (g[i] * s.scale + s.decay * w[i]);
    return;
  }
  for (std::size_t i = 0; i < g.size(); ++i) {
    const float d = g[i] * s.scale + s.decay * w[i];
    u[i] = s.momentum * u[i] + d;
    w[i] -= s.rate * (s.nesterov ? d + s.momentum * u[i] : u[i]);
  }
}

void adam(std::span<const float> g, std::span<float> w, std::span<float> m, std::span<float> v, const AdamStep& s) {
  for (std::size_t i = 0; i < g.size(); ++i) {
    const float d = g[i] * s.scale;
    m[i] = s.beta1 * m[i] + (1 - s.beta1) * d;
    v[i] = s.beta2 * v[i] + (1 - s.beta2) * d * d;
    w[i] -= s.corrected * m[i] / (std::sqrt(v[i]) + s.epsilon) + s.rate * s.decay * w[i];
  }
}

void adadelta(std::span<const float> g, std::span<float> w, std::span<float> square, std::span<float> update,
              const AdadeltaStep& s) {
  for (std::size_t i = 0; i < g.size(); ++i) {
    const float d = g[i] * s.scale + s.decay * w[i];
    square[i] = s.rho * square[i] + (1 - s.rho) * d * d;
    const float x = d * std::sqrt(update[i] + s.epsilon) / std::sqrt(square[i] + s.epsilon);
    update[i] = s.rho * update[i] + (1 - s.rho) * x * x;
    w[i] -= s.rate * x;
  }
}

void adagrad(std::span<const float> g, std::span<float> w, std::span<float> square, const AdagradStep& s) {
  for (std::size_t i = 0; i < g.size(); ++i) {
    const float d = g[i] * s.scale + s.decay * w[i];
    square[i] += d * d;
    w[i] -= s.rate * d / std::sqrt(square[i]);
  }
}

void rmsprop(std::span<const float> g, std::span<float> w, std::span<float> square, std::span<float> u,
             const RmspropStep& s) {
  for (std::size_t i = 0; i < g.size(); ++i) {
    const float d = g[i] * s.scale + s.decay * w[i];
    square[i] = s.rho * square[i] + (1 - s.rho) * d * d;
    float x = s.rate * d / std::sqrt(square[i] + s.epsilon);
    if (!u.empty()) x = u[i] = s.momentum * u[i] + x;
    w[i] -= x;
  }
}

void average(std::span<const float> w, std::span<float> average, float rate) {
  for (std::size_t i = 0; i < w.size(); ++i) average[i] += rate * (w[i] - average[i]);
}

constexpr std::size_t kLanes = 16;  // element i is added to lane i % 16; lanes are added in order

double square_sum(std::span<const float> g) {
  double lanes[kLanes] = {};
  const std::size_t whole = g.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes)
    for (std::size_t k = 0; k < kLanes; ++k) lanes[k] += static_cast<double>(g[i + k]) * static_cast<double>(g[i + k]);
  for (std::size_t i = whole; i < g.size(); ++i)
    lanes[i - whole] += static_cast<double>(g[i]) * static_cast<double>(g[i]);
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace

const OptimizerKernels optimizer = {.sgd = sgd,
                                    .adam = adam,
                                    .adadelta = adadelta,
                                    .adagrad = adagrad,
                                    .rmsprop = rmsprop,
                                    .average = average,
                                    .square_sum = square_sum};

}  // namespace voxshard::fast
