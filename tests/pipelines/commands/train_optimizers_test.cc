// Every optimizer's slots in checkpoints: a run that is stopped and resumed gives the bytes of an undisturbed one, and
// a plan counts them.
#include <cmath>

#include "io/files/config_file.h"
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

/// The largest difference between the weights after step `step` and those that Adam makes, in double, of the weights of
/// the step before and the new moments.
double adam_deviation(const Checkpoint& before, const Checkpoint& after, const OptimizerOptions& o, bool hat) {
  const double t = static_cast<double>(after.state.step), rest1 = 1 - std::pow(o.beta1, t),
               rest2 = 1 - std::pow(o.beta2, t);
  double largest = 0;
  for (const auto& [name, w] : before.parameters) {
    const auto m = after.optimizer.find("m/" + name), v = after.optimizer.find("v/" + name);
    if (m == after.optimizer.end()) continue;  // running statistics
    for (std::int64_t i = 0; i < w.count(); ++i) {
      const double mean = m->second.as<float>()[i], square = v->second.as<float>()[i];
      const double update = hat ? std::sqrt(rest2) / rest1 * mean / (std::sqrt(square) + o.epsilon)
                                : mean / rest1 / (std::sqrt(square / rest2) + o.epsilon);
      const double expected = w.as<float>()[i] - o.learning_rate * update;
      largest = std::max(largest, std::abs(expected - static_cast<double>(after.parameters.at(name).as<float>()[i])));
    }
  }
  return largest;
}

/// A run of two steps that goes on for a third with what `alter` leaves of its last checkpoint.
template <class Alter>
void expect_third_step(const std::string& name, bool hat, Alter alter) {
  TrainingScene scene(name);
  TrainOptions o = scene.options("run");
  o.optimizer = {.kind = OptimizerKind::kAdam, .learning_rate = 1e-2, .epsilon = 0.1};
  o.steps = 2;
  run_train(o, scene.progress);
  Checkpoint before = load_checkpoint(scene.last("run"));
  EXPECT_EQ(before.state.training.at("adam_epsilon"), "hat");
  alter(before.state.training);
  save_checkpoint(scene.last("run"), before.state, before.parameters, before.optimizer);
  o.steps = 3, o.resume = true;
  run_train(o, scene.progress);
  const Checkpoint after = load_checkpoint(scene.last("run"));
  EXPECT_EQ(after.state.training.contains("adam_epsilon"), hat);
  EXPECT_EQ(read_json(o.run / "run.json").at("training").contains("adam_epsilon"), hat);
  EXPECT_LT(adam_deviation(before, after, o.optimizer, hat), 1e-6);
  EXPECT_GT(adam_deviation(before, after, o.optimizer, !hat), 1e-4) << "the formulas can be told apart";
}

TEST(TrainAdam, ARunThatDoesNotSayWhereEpsilonStandsGoesOnWithTheFormulaOfThen) {
  expect_third_step("adam_before", false, [](nlohmann::json& training) { training.erase("adam_epsilon"); });
}

TEST(TrainAdam, ARunThatSaysEpsilonHatGoesOnWithIt) {
  expect_third_step("adam_hat", true, [](nlohmann::json&) {});
}

TEST(TrainAdam, AnEpsilonThatIsNotKnownIsRefused) {
  TrainingScene scene("adam_unknown");
  TrainOptions o = scene.options("run");
  o.steps = 1;
  run_train(o, scene.progress);
  Checkpoint checkpoint = load_checkpoint(scene.last("run"));
  checkpoint.state.training["adam_epsilon"] = "elsewhere";
  save_checkpoint(scene.last("run"), checkpoint.state, checkpoint.parameters, checkpoint.optimizer);
  o.steps = 2, o.resume = true;
  expect_error(ErrorKind::kCheckpoint, "/training/adam_epsilon differs", [&] { run_train(o, scene.progress); });
}

}  // namespace
}  // namespace voxshard
