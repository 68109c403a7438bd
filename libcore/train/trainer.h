// Runs training steps: feed, run, check, update, average. No result depends on the number of workers.
//
//   Trainer trainer(session, {.kind = OptimizerKind::kAdam}, total_steps);
//   StepResult r = trainer.step({1, 64, 64, 64}, [&](const Node& input, const TensorView& box) { ... });
#pragma once

#include "libcore/runtime/session.h"
#include "libcore/train/optimizer.h"

namespace voxshard {

struct StepResult {
  double loss = 0;
  double gradient_norm = 0;
  double learning_rate = 0;
};

class Trainer {
 public:
  /// Fills the box of an input that a core owns (input.input describes its contents); called once per core, from
  /// several workers.
  using Feed = std::function<void(const Node& input, const TensorView& box)>;

  /// An average of the weights (OptimizerOptions::ema) begins with the session's parameters.
  ///   seed  for the random choices of steps (input::Draw), which the trainer feeds itself
  Trainer(Session& session, OptimizerOptions optimizer, const Graph& graph, std::int64_t total_steps,
          std::uint64_t seed = 0);

  /// Runs one step. Errors: kDiverged with the step and the first layer whose result is not finite (parameters are then
  /// unchanged), or with the first weight that is not finite after the update (the parameters must then be discarded);
  /// Stopped (Session::set_stop) before any effect of the step is applied.
  StepResult step(const Shape& extents, const Feed& task);

  std::int64_t steps_done() const { return steps_done_; }
  void set_steps_done(std::int64_t steps) { steps_done_ = steps; }
  Optimizer& optimizer() { return optimizer_; }
  Session& session() { return session_; }
  /// The gradients of the last step, by parameter name; they live until the next step.
  Gradients gradients();

 private:
  void require_finite_weights();
  void feed(CoreSet& cores, const Feed& task) const;

  Session& session_;
  Optimizer optimizer_;
  std::int64_t total_steps_;
  std::int64_t steps_done_ = 0;
  std::uint64_t seed_;
  CoreSet* last_ = nullptr;
};

/// Feeds every input of a core set.
void feed_all(CoreSet& cores, const Trainer::Feed& feed);

}  // namespace voxshard
