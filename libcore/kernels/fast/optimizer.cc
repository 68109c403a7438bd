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
    w[i] -= s.rate * (m[i] * s.correct1 / (std::sqrt(v[i] * s.correct2) + s.epsilon) + s.decay * w[i]);
  }
}

constexpr std::size_t kLanes = 16;  // element i is added to lane i % 16; lanes are added in order

double square_sum(std::span<const float> g) {
  double lanes[kLanes] = {};
  const std::size_t whole = g.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes)
    for (std::size_t k = 0; k < kLanes; ++k) lanes[k] += static_cast<double>(g[i + k]) * static_cast<double>(g[i + k]);
  for (std::size_t i = whole; i < g.size(); ++i) lanes[i - whole] += static_cast<double>(g[i]) * static_cast<double>(g[i]);
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace

const OptimizerKernels optimizer = {.sgd = sgd, .adam = adam, .square_sum = square_sum};

}  // namespace voxshard::fast
