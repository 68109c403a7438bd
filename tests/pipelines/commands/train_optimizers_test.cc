// Every optimizer's slots in checkpoints: a run that is stopped and resumed gives the bytes of an undisturbed one, and
// a plan counts them.
#include "pipelines/runs/checkpoint.h"
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

}  // namespace
}  // namespace voxshard
