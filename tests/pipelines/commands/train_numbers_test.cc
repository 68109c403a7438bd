// What a training refuses: numbers out of their range, weights that are no numbers.
#include "pipelines/training/train_numbers.h"

#include <cmath>
#include <limits>

#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

TEST(RunTrain, WeightsThatAreNotFiniteReplaceNoCheckpoint) {
  TrainingScene scene("train_not_finite");
  TrainOptions o = scene.options("run");
  o.steps = 1;
  run_train(o, scene.progress);
  const std::string before = scene.last_bytes("run");
  o.run = scene.path("bad");
  o.optimizer = {.learning_rate = 1e38, .weight_decay = 1e3};  // the first loss is finite, the weights after it are not
  expect_error(ErrorKind::kDiverged, "step 0: the weights are not finite after the update",
               [&] { run_train(o, scene.progress); });
  EXPECT_FALSE(std::filesystem::exists(scene.last("bad")));
  EXPECT_FALSE(std::filesystem::exists(o.run / "checkpoints/best.safetensors"));
  EXPECT_TRUE(scene.last_bytes("run") == before);
}

TEST(RunTrain, NumbersOutOfTheirRangeAreRefusedByName) {
  RecordingProgress progress;
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  TrainOptions good;
  for (std::size_t i = 0; i < train_numbers(good).size(); ++i)
    for (const double value : {nan, infinity, -infinity, -1.0, 1e300}) {
      TrainOptions o;
      const TrainNumber row = train_numbers(o)[i];
      if (const auto* real = std::get_if<double*>(&row.value))
        **real = value;
      else if (std::abs(value) > 1e18 || std::isnan(value))
        continue;
      else if (const auto* whole = std::get_if<std::int64_t*>(&row.value))
        **whole = static_cast<std::int64_t>(value);
      else
        *std::get<std::vector<std::int64_t>*>(row.value) = {3, static_cast<std::int64_t>(value)};
      expect_error(ErrorKind::kUsage, "{" + row.name + "} is ", [&] { run_train(o, progress); });
      expect_error(ErrorKind::kUsage, to_text(row.range), [&] { run_train(o, progress); });
    }
}

TEST(CountEpochs, AreStepsOfWholeBatches) {
  TrainOptions o;
  o.batch = 64, o.epochs = 10, o.lr_decay_epochs = 1;
  count_epochs(o, 60000);
  EXPECT_EQ(o.steps, 9380);
  EXPECT_EQ(o.optimizer.decay_steps, 938) << "60,000 cases are 937.5 batches";
  EXPECT_TRUE(o.optimizer.stairs);
  o.batch = 512;
  count_epochs(o, 60000);
  EXPECT_EQ(o.steps, 1180) << "again for another batch";
  count_epochs(o, 3);
  EXPECT_EQ(o.steps, 10) << "a batch may be more than all cases";
  TrainOptions steps;
  steps.steps = 7;
  count_epochs(steps, 60000);
  EXPECT_EQ(steps.steps, 7);
  EXPECT_FALSE(steps.optimizer.stairs);
  o.epochs = 1'000'000'000;
  expect_error(ErrorKind::kUsage, "{epochs} is 1e+09", [&] { count_epochs(o, 60000); });
}

TEST(RunTrain, NumbersOfATaskOutOfTheirRangeAreRefusedByName) {
  RecordingProgress progress;
  TrainOptions o;
  o.work = "/nowhere";
  volumes(o).sampling.noise = std::numeric_limits<double>::quiet_NaN();
  expect_error(ErrorKind::kUsage, "{noise} is nan; expected a number of 0 to 1000", [&] { run_train(o, progress); });
}

}  // namespace
}  // namespace voxshard
