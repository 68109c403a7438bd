// The optimizers of the reference models on f32 master weights (a table in optimizer.cc), learning-rate schedules,
// weight decay and clipping by global norm. Formulas and first values of slots are those of TensorFlow 1 (tf.train).
//
//   Optimizer opt({.kind = OptimizerKind::kAdam, .learning_rate = 1e-3}, graph);
//   opt.update(pool, parameters, gradients, step, total_steps);
#pragma once

#include <set>

#include "libcore/runtime/core_set.h"

namespace voxshard {

enum class OptimizerKind { kSgd, kAdam, kAdadelta, kAdagrad, kRmsprop };
inline constexpr const char* kOptimizerNames[] = {"sgd", "adam", "adadelta", "adagrad", "rmsprop"};
enum class ScheduleKind { kConstant, kPolynomial, kExponential, kSteps };

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::kAdam;
  double learning_rate = 1e-3;
  double momentum = 0.9;  // SGD, RMSProp (as in unet_model.py of tensorflow/tpu)
  bool nesterov = false;  // SGD
  double beta1 = 0.9;     // Adam (Kingma and Ba 2015)
  double beta2 = 0.999;
  double epsilon = 1e-8;  // added to the root without bias correction (tf.train; their section 2)
  // of decaying parameters: added to the gradient; decoupled for Adam (Loshchilov and Hutter 2019)
  double weight_decay = 0;
  double clip_norm = 0;  // global L2 norm of all gradients; 0: no clipping
  ScheduleKind schedule = ScheduleKind::kConstant;
  double power = 0.9;  // polynomial: (1 - step / total)^power
  // exponential: rate^(step / decay_steps), without stairs (as unet_model.py of tensorflow/tpu)
  double decay_rate = 0.5;
  std::int64_t decay_steps = 100000;
  bool stairs = false;                      // exponential: the rate falls only at multiples of decay_steps
  std::vector<std::int64_t> decay_at = {};  // steps: the rate is multiplied by `step_factor` from each of these on
  double step_factor = 0.1;
  // linear from `warmup_rate`; when that is 0, the first step counts as one, since it would do nothing
  std::int64_t warmup_steps = 0;
  double warmup_rate = 0;
  double ema = 0;  // decay of the moving average of the weights, see decay_of_average(); 0: no average is kept
};

/// Returns the learning rate of step `step` (from 0) out of `total`.
double learning_rate_at(const OptimizerOptions& options, std::int64_t step, std::int64_t total);

/// Returns the decay of the moving average at step `step` (from 0): min(ema, (1 + step) / (10 + step)), by which an
/// early average forgets the initial weights.   Source: num_updates of tf.train.ExponentialMovingAverage,
/// TensorFlow 1.15
double decay_of_average(double ema, std::int64_t step);

/// Gradients by parameter name, dense f32.
using Gradients = std::map<std::string, TensorView>;

class Optimizer {
 public:
  Optimizer(OptimizerOptions options, const Graph& graph);

  /// Return the number of tensors of its size kept for each parameter, and their bytes for all parameters of `graph`;
  /// for plans.
  static std::int64_t slots(const OptimizerOptions& options);
  static std::int64_t state_bytes(const OptimizerOptions& options, const Graph& graph);
  /// The global norm of `gradients` (f64, fixed order).
  static double global_norm(WorkerPool& pool, const Gradients& gradients);

  /// Updates `parameters` in place. `norm` is the global norm for clipping.
  void update(WorkerPool& pool, Parameters& parameters, const Gradients& gradients, double norm, std::int64_t step,
              std::int64_t total);

  /// Begins the average (OptimizerOptions::ema) with `weights`: parameters and states, since the running statistics of
  /// a norm belong to the weights that they were measured with. Without ema: does nothing.
  void begin_average(const Parameters& weights);
  /// Adds the weights and states after step `step` to the average. Requires the names and shapes of begin_average().
  void average(WorkerPool& pool, const Parameters& weights, std::int64_t step);

  /// Slots by "slot/parameter name", for checkpoints.
  Parameters& state() { return state_; }
  /// The averaged weights and states by their names; empty without ema.
  Parameters& averages() { return averages_; }
  const OptimizerOptions& options() const { return options_; }

 private:
  OptimizerOptions options_;
  std::set<std::string> decays_;  // the parameters that weight decay applies to
  Parameters state_, averages_;
};

}  // namespace voxshard
