// The moving average of the weights over a training: what checkpoints hold of it, which weights are the best and are
// predicted with, and a stop while the average is validated.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "libcore/ops/op_table.h"
#include "libcore/planner/budget.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/model_runs/checkpoint.h"
#include "pipelines/model_runs/trained_run.h"
#include "pipelines/training/plan_training.h"
#include "tests/pipelines/tasks/detection/images_scene.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

constexpr double kEma = 0.5;

TrainOptions averaging(const TrainingScene& scene, const std::string& run) {
  TrainOptions o = scene.options(run);
  volumes(o).fold = "0", o.optimizer.ema = kEma, o.steps = 4;
  return o;
}

bool equal(const Parameters& a, const Parameters& b) {
  return a.size() == b.size() && std::ranges::all_of(a, [&](const auto& one) {
           const Tensor& other = b.at(one.first);
           return one.second.bytes() == other.bytes() &&
                  std::memcmp(one.second.data(), other.data(), static_cast<std::size_t>(other.bytes())) == 0;
         });
}

/// Trains 4 steps, and expects in each checkpoint the average of the weights of all checkpoints up to it.
void expect_averaged(TrainingScene& scene, TrainOptions o) {
  o.spec.as<UNetConfig>().norm = NormKind::kBatch;  // whose running statistics are averaged too
  o.checkpoint_every = 1, o.kept = {.last = 10};
  run_train(o, scene.progress);
  const auto after = [&](int step) {
    const std::string name = step == 4 ? "last" : "step-00000" + std::to_string(step);
    return load_checkpoint(o.run / "checkpoints" / (name + ".safetensors"));
  };
  double moved = 0;
  for (int step = 2; step <= 4; ++step) {
    const Checkpoint before = after(step - 1), now = after(step);
    EXPECT_EQ(now.averages.size(), now.parameters.size());
    const double decay = std::min(kEma, static_cast<double>(step) / (9 + step));  // of step number step - 1, from 0
    for (const auto& [name, weight] : now.parameters)
      for (std::int64_t i = 0; i < weight.count(); ++i) {
        const double w = weight.as<const float>()[i], a = before.averages.at(name).as<const float>()[i];
        const double expected = decay * a + (1 - decay) * w;
        // three roundings of values no larger than these
        ASSERT_NEAR(now.averages.at(name).as<const float>()[i], expected, 4 * 0x1p-24 * (std::abs(a) + std::abs(w)))
            << name << " " << i;
        moved = std::max(moved, std::abs(expected - w));
      }
  }
  EXPECT_GT(moved, 0);
}

TEST(AveragedWeights, AreThoseOfTheCheckpointsOfAllStepsAveragedOneByOne) {
  TrainingScene scene("average_steps");
  expect_averaged(scene, averaging(scene, "run"));
}

TEST(AveragedWeights, AreThatOnEachGridInEachPrecision) {
  TrainingScene scene("average_grids");
  for (const DType precision : {DType::kF32, DType::kBF16})
    for (const auto& [partition, replicas] : std::vector<std::pair<Dims, std::int64_t>>{{{1, 2, 1, 1, 1}, 1},
                                                                                        {{1, 1, 2, 2, 1}, 1},
                                                                                        {{1, 2, 2, 2, 1}, 1},
                                                                                        {{1, 1, 1, 4, 1}, 1},
                                                                                        {{1, 1, 1, 1, 1}, 2},
                                                                                        {{1, 1, 2, 1, 1}, 2}}) {
      const std::string name = to_string(partition) + "_" + std::to_string(replicas) + dtype_name(precision);
      SCOPED_TRACE(name);
      TrainOptions o = averaging(scene, name);
      o.spec.precision = precision, o.spec.as<UNetConfig>().marginal = true;
      o.spec.cut.mesh = {.replicas = replicas, .partition = partition};
      o.batch = replicas;
      expect_averaged(scene, o);
    }
}

TEST(AveragedWeights, AreCountedInThePlan) {
  TrainingScene scene("average_plan");
  std::int64_t optimizer[2] = {}, weights = 0;
  for (const bool averages : {false, true}) {
    TrainOptions o = averaging(scene, averages ? "with" : "without");
    o.steps = 1;
    if (!averages) o.optimizer.ema = 0;
    const TrainReport report = run_train(o, scene.progress);
    optimizer[averages ? 1 : 0] = report.memory.plan[MemoryPart::kOptimizer];
    weights = report.memory.plan[MemoryPart::kWeights];
  }
  EXPECT_EQ(optimizer[1] - optimizer[0], weights);
}

/// Returns the bytes of a core in a training step of this plan.
std::int64_t core_bytes(const PlannedTraining& p, DType precision, bool keeps_average) {
  return lower_within({}, build_graph(p.spec, p.extents, Phase::kTrain, precision), op_table(), p.spec.cut,
                      {.optimizer_slots = Optimizer::slots(p.optimizer), .keeps_average = keeps_average, .workers = 1})
      .bytes.widest_core();
}

TEST(AveragedWeights, OfADetectorAreChosenWithAPrecisionThatTheyFitTheMemoryIn) {
  const ImagesScene scene("average_of_detector");
  NoProgress quiet;
  const auto plan_in = [&](std::int64_t budget, const char* steps) {
    TrainSettings train;
    train.options.work = scene.annotations();
    for (const auto& [name, word] :
         {std::pair("model", "retinanet"), std::pair("backbone", "resnet18"), std::pair("steps", steps)})
      train.settings.say(Layer::kConfig, name, {word});
    return plan_training(train, {}, {.threads = 1, .core_budget_bytes = budget}, quiet);
  };
  EXPECT_EQ(plan_in(0, "199").optimizer.ema, 0);
  const PlannedTraining unlimited = plan_in(0, "200");
  EXPECT_GT(unlimited.optimizer.ema, 0);
  const std::int64_t least = core_bytes(unlimited, DType::kBF16, false);
  bool with = false, without = false;
  for (const DType precision : {DType::kBF16, DType::kF32})
    for (const bool average : {false, true}) {
      const std::int64_t budget = std::max(least, core_bytes(unlimited, precision, average));
      const PlannedTraining p = plan_in(budget, "200");
      EXPECT_LE(core_bytes(p, p.spec.precision, p.optimizer.ema > 0), budget) << average;
      (p.optimizer.ema > 0 ? with : without) = true;
    }
  EXPECT_TRUE(with && without);
}

TEST(AveragedWeights, TheBestCheckpointIsThatOfTheBetterWeightsAndPredictionTakesThem) {
  TrainingScene scene("average_best");
  const TrainOptions o = averaging(scene, "run");
  const TrainReport report = run_train(o, scene.progress);
  ASSERT_TRUE(report.validation && report.averaged);
  EXPECT_EQ(report.best_score, std::max(report.validation->score, report.averaged->score));
  const std::string better = report.averaged->score >= report.validation->score ? kAveragedWeights : kLastWeights;
  EXPECT_EQ(report.best_weights, better);
  EXPECT_EQ(report.averaged_is_better, better == kAveragedWeights);
  const Checkpoint best = load_checkpoint(o.run / "checkpoints/best.safetensors");
  EXPECT_EQ(best.state.weights, better);
  EXPECT_TRUE(best.optimizer.empty());
  const std::string rows = Scene::bytes_of(o.run / "results.csv");
  EXPECT_NE(rows.find("validation_dice,validation_dice_averaged,validation_dice_lungs,"), std::string::npos) << rows;

  for (const char* weights : {"auto", kLastWeights, kAveragedWeights}) {
    const TrainedRun run = load_trained_run({.run = o.run, .weights = weights});
    const std::string taken = weights == std::string("auto") ? better : weights;
    EXPECT_EQ(run.weights, taken);
    EXPECT_TRUE(equal(run.parameters, taken == kLastWeights ? best.parameters : best.averages)) << weights;
    EXPECT_FALSE(equal(run.parameters, taken == kLastWeights ? best.averages : best.parameters)) << weights;
  }
  expect_error(ErrorKind::kUsage, "expected auto, last or averaged",
               [&] { load_trained_run({.run = o.run, .weights = "first"}); });
}

TEST(AveragedWeights, AreTakenWithoutAValidationAndOnlyWhereThereAreSome) {
  TrainingScene scene("average_taken");
  TrainOptions o = averaging(scene, "run");
  volumes(o).fold = "all", o.steps = 2;
  run_train(o, scene.progress);
  EXPECT_THAT(scene.progress.lines, testing::Contains(testing::HasSubstr("predict takes the averaged weights")));
  EXPECT_EQ(load_trained_run({.run = o.run}).weights, kAveragedWeights);
  const auto predicted = [&](const std::string& weights) {
    scene.progress = {};
    const PredictReport report = run_predict(
        {.run = o.run, .input = scene.data() / "imagesTs", .output = scene.path(weights), .weights = weights},
        scene.progress);
    EXPECT_THAT(scene.progress.lines, testing::Contains(testing::HasSubstr("the " + report.weights + " weights of ")));
    return to_json(report).at("weights").get<std::string>();
  };
  EXPECT_EQ(predicted("auto"), kAveragedWeights);
  EXPECT_EQ(predicted(kLastWeights), kLastWeights);
  EXPECT_EQ(load_checkpoint(scene.last("run")).state.weights, "");

  o = averaging(scene, "without");
  o.optimizer.ema = 0, o.steps = 1;
  run_train(o, scene.progress);
  EXPECT_EQ(load_trained_run({.run = o.run}).weights, "");
  expect_error(ErrorKind::kUsage, "has no averaged weights",
               [&] { load_trained_run({.run = o.run, .weights = kAveragedWeights}); });
}

TEST(AveragedWeights, ChangeNothingOfTheTraining) {
  TrainingScene scene("average_apart");
  TrainOptions o = averaging(scene, "with");
  o.validate_every = 2;
  run_train(o, scene.progress);
  const Checkpoint with = load_checkpoint(scene.last("with"));
  o.run = scene.path("without"), o.optimizer.ema = 0;
  run_train(o, scene.progress);
  const Checkpoint without = load_checkpoint(scene.last("without"));
  EXPECT_TRUE(equal(with.parameters, without.parameters));
  EXPECT_TRUE(equal(with.optimizer, without.optimizer));
}

/// Asks to stop once a validation has begun for the nth time.
struct StopInNthValidation : RecordingProgress {
  explicit StopInNthValidation(int n) : left(n) {}
  void update(std::string_view stage, std::int64_t done, std::int64_t, std::string_view) override {
    if (stage == "validate" && done == 0 && --left == 0) stop = true;
  }
  int left;
};

TEST(AveragedWeights, AStopWhileTheyAreValidatedSavesBothAndResumeGivesTheSameBytes) {
  TrainingScene scene("average_stop");
  TrainOptions o = averaging(scene, "whole");
  o.validate_every = 2;
  run_train(o, scene.progress);
  o.run = scene.path("stopped");
  StopInNthValidation stopping(2);  // the first one is that of the last weights
  const TrainReport report = run_train(o, stopping);
  EXPECT_TRUE(report.interrupted);
  EXPECT_EQ(report.steps, 2);
  EXPECT_EQ(stopping.left, 0);
  o.resume = true;
  run_train(o, scene.progress);
  EXPECT_TRUE(scene.last_bytes("stopped") == scene.last_bytes("whole"));
}

TEST(AveragedWeights, OfACheckpointThatLacksOneAreNotResumed) {
  TrainingScene scene("average_lacks");
  TrainOptions o = averaging(scene, "run");
  o.steps = 1;
  run_train(o, scene.progress);
  Checkpoint checkpoint = load_checkpoint(scene.last("run"));
  const std::string name = checkpoint.averages.begin()->first;
  checkpoint.averages.erase(name);
  save_checkpoint(scene.last("run"), checkpoint.state, checkpoint.parameters, checkpoint.optimizer,
                  checkpoint.averages);
  o.resume = true, o.steps = 2;
  expect_error(ErrorKind::kCheckpoint, "the average of " + name + " is missing", [&] { run_train(o, scene.progress); });
}

}  // namespace
}  // namespace voxshard
