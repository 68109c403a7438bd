// One step of an optimizer on a run of a parameter's elements, f32: w the weights, g their gradient, the rest its slots.
#pragma once

#include "libcore/kernels/kernel.h"

namespace voxshard {

struct SgdStep {
  float rate = 0, scale = 1, decay = 0, momentum = 0;  // `scale` clips the gradient
  bool nesterov = false;
};

struct AdamStep {
  float rate = 0, scale = 1, decay = 0, beta1 = 0, beta2 = 0, epsilon = 0;
  float correct1 = 1, correct2 = 1;  // 1 / (1 - beta^steps)
};

struct OptimizerKernels {
  /// d = scale g + decay w; u = momentum u + d; w -= rate (nesterov ? d + momentum u : u). Without u: w -= rate d.
  void (*sgd)(std::span<const float> g, std::span<float> w, std::span<float> u, const SgdStep& step);
  /// d = scale g; m = beta1 m + (1 - beta1) d; v = beta2 v + (1 - beta2) d d;
  /// w -= rate (correct1 m / (sqrt(correct2 v) + epsilon) + decay w).
  void (*adam)(std::span<const float> g, std::span<float> w, std::span<float> m, std::span<float> v, const AdamStep& step);
  /// The sum of g g in f64, in an order that depends on their number alone.
  double (*square_sum)(std::span<const float> g);
};

namespace reference { extern const OptimizerKernels optimizer; }
namespace fast { extern const OptimizerKernels optimizer; }

}  // namespace voxshard
