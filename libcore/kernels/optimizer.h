// One step of an optimizer on a run of a parameter's elements, f32: w the weights, g their gradient, the rest its
// slots; and of the moving average of the weights.
#pragma once

#include "libcore/kernels/kernel.h"

namespace voxshard {

struct SgdStep {
  float rate = 0, scale = 1, decay = 0, momentum = 0;  // `scale` clips the gradient
  bool nesterov = false;
};

struct AdamStep {
  float rate = 0, scale = 1, decay = 0, beta1 = 0, beta2 = 0, epsilon = 0;
  float corrected = 0;  // rate * sqrt(1 - beta2^steps) / (1 - beta1^steps)
};

struct AdadeltaStep {
  float rate = 0, scale = 1, decay = 0, rho = 0, epsilon = 0;
};

struct AdagradStep {
  float rate = 0, scale = 1, decay = 0;
};

struct RmspropStep {
  float rate = 0, scale = 1, decay = 0, rho = 0, momentum = 0, epsilon = 0;
};

struct OptimizerKernels {
  /// d = scale g + decay w; u = momentum u + d; w -= rate (nesterov ? d + momentum u : u). Without u: w -= rate d.
  void (*sgd)(std::span<const float> g, std::span<float> w, std::span<float> u, const SgdStep& step);
  /// d = scale g; m = beta1 m + (1 - beta1) d; v = beta2 v + (1 - beta2) d d;
  /// w -= corrected m / (sqrt(v) + epsilon) + rate decay w: "epsilon hat" of Kingma and Ba 2015, section 2.
  void (*adam)(std::span<const float> g, std::span<float> w, std::span<float> m, std::span<float> v,
               const AdamStep& step);
  /// d = scale g + decay w; square = rho square + (1 - rho) d d; x = d sqrt(update + epsilon) / sqrt(square + epsilon);
  /// update = rho update + (1 - rho) x x; w -= rate x.
  void (*adadelta)(std::span<const float> g, std::span<float> w, std::span<float> square, std::span<float> update,
                   const AdadeltaStep& step);
  /// d = scale g + decay w; square += d d; w -= rate d / sqrt(square).
  void (*adagrad)(std::span<const float> g, std::span<float> w, std::span<float> square, const AdagradStep& step);
  /// d = scale g + decay w; square = rho square + (1 - rho) d d; u = momentum u + rate d / sqrt(square + epsilon); w -=
  /// u. Without u its momentum is 0.
  void (*rmsprop)(std::span<const float> g, std::span<float> w, std::span<float> square, std::span<float> u,
                  const RmspropStep& step);
  /// average += rate (w - average): one step of an exponential moving average.
  void (*average)(std::span<const float> w, std::span<float> average, float rate);
  /// Returns the sum of g g in f64, in an order that depends on the number of elements alone.
  double (*square_sum)(std::span<const float> g);
};

namespace reference {
extern const OptimizerKernels optimizer;
}
namespace fast {
extern const OptimizerKernels optimizer;
}

}  // namespace voxshard
