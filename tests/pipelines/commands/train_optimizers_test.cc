// Every optimizer's slots in checkpoints: a run that is stopped and resumed gives the bytes of an undisturbed one, and
// a plan counts them.
#include <cmath>

#include "pipelines/model_runs/checkpoint.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

class TrainWith : public testing::TestWithParam<OptimizerKind> {};

TEST_P(TrainWith, StoppedAndResumedGivesTheBytesOfAnUndisturbedRun) {
  const std::string name = kOptimizerNames[static_cast<std::size_t>(GetParam())];
  TrainingScene scene("train_" + name);
  TrainOptions o = scene.options("whole");
  o.optimizer = {.kind = GetParam(), .learning_rate = 1e-3, .weight_decay = 1e-3};
  o.steps = 5, o.checkpoint_every = 2;
  run_train(o, scene.progress);
  const Checkpoint whole = load_checkpoint(scene.last("whole"));
  EXPECT_EQ(whole.state.training.at("optimizer"), name);
  std::int64_t bytes = 0;
  for (const auto& [slot, tensor] : whole.optimizer) bytes += tensor.bytes();
  const ModelSpec spec = model_spec_from_json(whole.state.model);
  EXPECT_EQ(bytes, Optimizer::state_bytes(o.optimizer, build_graph(spec, {1, 16, 16, 16}, Phase::kTrain, DType::kF32)));
  o.run = scene.path("stopped");
  StoppingProgress stopping(3, false);
  EXPECT_TRUE(run_train(o, stopping).interrupted);
  o.resume = true;
  EXPECT_FALSE(run_train(o, scene.progress).interrupted);
  EXPECT_TRUE(scene.last_bytes("stopped") == scene.last_bytes("whole"));
}

INSTANTIATE_TEST_SUITE_P(Optimizers, TrainWith,
                         testing::Values(OptimizerKind::kSgd, OptimizerKind::kAdam, OptimizerKind::kAdadelta,
                                         OptimizerKind::kAdagrad, OptimizerKind::kRmsprop));

/// Returns the largest difference between the weights after step `step` and those that Adam makes, in double, of the
/// weights of the step before and the new moments, with epsilon beside the root of the uncorrected moment.
double adam_deviation(const Checkpoint& before, const Checkpoint& after, const OptimizerOptions& o) {
  const double t = static_cast<double>(after.state.step), rest1 = 1 - std::pow(o.beta1, t),
               rest2 = 1 - std::pow(o.beta2, t);
  double largest = 0;
  for (const auto& [name, w] : before.parameters) {
    const auto m = after.optimizer.find("m/" + name), v = after.optimizer.find("v/" + name);
    if (m == after.optimizer.end()) continue;  // running statistics
    for (std::int64_t i = 0; i < w.count(); ++i) {
      const double mean = m->second.as<float>()[i], square = v->second.as<float>()[i];
      const double update = std::sqrt(rest2) / rest1 * mean / (std::sqrt(square) + o.epsilon);
      const double expected = w.as<float>()[i] - o.learning_rate * update;
      largest = std::max(largest, std::abs(expected - static_cast<double>(after.parameters.at(name).as<float>()[i])));
    }
  }
  return largest;
}

TEST(TrainAdam, ARunThatGoesOnTakesTheStepOfTheFormula) {
  TrainingScene scene("adam");
  TrainOptions o = scene.options("run");
  o.optimizer = {.kind = OptimizerKind::kAdam, .learning_rate = 1e-2, .epsilon = 0.1};
  o.steps = 2;
  run_train(o, scene.progress);
  const Checkpoint before = load_checkpoint(scene.last("run"));
  o.steps = 3, o.resume = true;
  run_train(o, scene.progress);
  EXPECT_LT(adam_deviation(before, load_checkpoint(scene.last("run")), o.optimizer), 1e-6);
}

}  // namespace
}  // namespace voxshard
