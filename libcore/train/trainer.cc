#include "libcore/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/base/rng.h"

namespace voxshard {

void feed_all(CoreSet& cores, const Trainer::Feed& feed) {
  const Graph& graph = cores.executable().program.graph;
  for (ValueId id = 0; id < graph.size(); ++id)
    if (graph.node(id).role == Role::kInput) cores.feed(id, [&](const TensorView& box) { feed(graph.node(id), box); });
}

Trainer::Trainer(Session& session, OptimizerOptions optimizer, const Graph& graph, std::int64_t total_steps,
                 std::uint64_t seed)
    : session_(session), optimizer_(optimizer, graph), total_steps_(total_steps), seed_(seed) {
  optimizer_.begin_average(session.parameters());
}

void Trainer::feed(CoreSet& cores, const Feed& task) const {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  feed_all(cores, [&](const Node& input, const TensorView& box) {
    if (!std::holds_alternative<input::Draw>(input.input)) return task(input, box);
    store(box, 0, static_cast<double>(rng_below({.seed = seed_, .stream = rng_stream("draw")}, 0, kMost)));
    store(box, 1, static_cast<double>(steps_done_ % kMost));
  });
}

Gradients Trainer::gradients() {
  Gradients gradients;
  const Graph& graph = last_->executable().program.graph;
  for (const auto& [parameter, gradient] : graph.gradients)
    gradients.emplace(graph.node(parameter).name, last_->replicated(gradient));
  return gradients;
}

void Trainer::require_finite_weights() {
  Gradients weights;  // the weights as views by name: their sum of squares is finite if each weight is
  for (const auto& [name, weight] : session_.parameters()) weights.emplace(name, weight.view());
  if (std::isfinite(Optimizer::global_norm(session_.pool(), weights))) return;
  const auto first = std::find_if(weights.begin(), weights.end(), [&](const auto& weight) {
    return !std::isfinite(Optimizer::global_norm(session_.pool(), {weight}));
  });
  throw Error(ErrorKind::kDiverged, "[train] step " + std::to_string(steps_done_) +
                                        ": the weights are not finite after " + "the update; first " + first->first +
                                        "; lower the learning rate, or clip the gradient");
}

StepResult Trainer::step(const Shape& extents, const Feed& task) {
  CoreSet& cores = session_.cores(extents, Phase::kTrain);
  last_ = &cores;
  feed(cores, task);
  cores.run();
  const Graph& graph = cores.executable().program.graph;
  const Gradients step_gradients = gradients();
  StepResult result{.loss = load(cores.replicated(graph.outputs.at("loss")), 0),
                    .gradient_norm = Optimizer::global_norm(session_.pool(), step_gradients),
                    .learning_rate = learning_rate_at(optimizer_.options(), steps_done_, total_steps_)};
  if (!std::isfinite(result.loss) || !std::isfinite(result.gradient_norm)) {
    feed(cores, task);  // inputs may have been overwritten by later buffers
    const auto first = cores.first_non_finite();
    throw Error(ErrorKind::kDiverged, "[train] step " + std::to_string(steps_done_) + ": the " +
                                          (std::isfinite(result.loss) ? "gradient" : "loss") +
                                          " is not finite; first at layer " + (first ? graph.node(*first).name : "?") +
                                          "; lower the learning rate, clip the gradient, or check the input for NaN");
  }
  optimizer_.update(session_.pool(), session_.parameters(), step_gradients, result.gradient_norm, steps_done_,
                    total_steps_);
  cores.apply_effects();
  require_finite_weights();
  optimizer_.average(session_.pool(), session_.parameters(), steps_done_);
  ++steps_done_;
  return result;
}

}  // namespace voxshard
