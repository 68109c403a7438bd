// The settings of a training: numbers out of their range are refused, and a setting that a test adds is like the
// others.
#include "pipelines/training/training_rows.h"

#include <cmath>
#include <limits>

#include "pipelines/model_runs/trained_run.h"
#include "pipelines/training/train_settings.h"
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

TEST(RunTrain, ADeepNetworkOfValidPoolsIsReadAgain) {
  TrainingScene scene("train_deep_valid");
  TrainOptions o = scene.options("run");
  o.steps = 1;
  o.spec.as<UNetConfig>() = {.base_filters = 1, .depth = 6, .pool = Pooling::kValid};
  volumes(o).sampling.crop = {32, 32, 32};
  run_train(o, scene.progress);
  EXPECT_EQ(load_trained_run({.run = o.run}).step, 1);
}

TEST(RunTrain, NumbersOutOfTheirRangeAreRefusedByName) {
  RecordingProgress progress;
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  TrainOptions good;
  for (std::size_t i = 0; i < training_rows(good).size(); ++i)
    for (const double value : {nan, infinity, -infinity, -1.0, 1e300}) {
      TrainOptions o;
      const Setting row = training_rows(o)[i];
      if (!row.range || row.name == "seed") continue;
      if (const auto* real = std::get_if<double*>(&row.value))
        **real = value;
      else if (std::abs(value) > 1e18 || std::isnan(value))
        continue;
      else if (const auto* whole = std::get_if<std::int64_t*>(&row.value))
        **whole = static_cast<std::int64_t>(value);
      else
        *std::get<std::vector<std::int64_t>*>(row.value) = {3, static_cast<std::int64_t>(value)};
      expect_error(ErrorKind::kUsage, "{" + row.name + "} is ", [&] { run_train(o, progress); });
      expect_error(ErrorKind::kUsage, to_text(*row.range), [&] { run_train(o, progress); });
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

/// Options that only this test defines, which a training would read.
struct ToyTraining {
  double warmth = 1;
};

/// `train` with a row for a setting that only this test defines.
struct WarmSettings : TrainSettings {
  explicit WarmSettings(const TrainOptions& of) {
    settings.add({.name = "warmth",
                  .help = "How warm it is",
                  .group = "Toys",
                  .value = &toy.warmth,
                  .range = NumberRange{0, 9},
                  .decides = true});
    options.work = of.work, options.run = of.run;
    for (const auto& [name, word] : std::map<std::string, std::string>{{"steps", "2"},
                                                                       {"base-filters", "4"},
                                                                       {"depth", "3"},
                                                                       {"precision", "f32"},
                                                                       {"crop", "16x16x16"},
                                                                       {"fold", "all"}})
      settings.say(Layer::kCommandLine, name, {word});
  }
  ToyTraining toy;
};

nlohmann::json run_record(const TrainOptions& o) { return nlohmann::json::parse(Scene::bytes_of(o.run / "run.json")); }

TEST(TrainSettings, ASettingIsARowWhichRangesLayersRunsAndCheckpointsAsk) {
  TrainingScene scene("toy_setting");
  WarmSettings begun(scene.options("run"));
  expect_error(ErrorKind::kUsage, "{warmth}: 10 is not in 0 to 9",
               [&] { begun.settings.say(Layer::kConfig, "warmth", {"10"}); });
  EXPECT_TRUE(begun.settings.say(Layer::kConfig, "warmth", {"2.5"}));
  EXPECT_FALSE(begun.settings.say(Layer::kModel, {"warmth", 3.0, "a lower layer"}));
  EXPECT_EQ(begun.toy.warmth, 2.5);
  run_train(begun, {.threads = 2}, scene.progress);
  const nlohmann::json run = run_record(begun.options);
  EXPECT_EQ(run.at("training").at("warmth"), 2.5);
  EXPECT_EQ(run.at("options").at("warmth"), nlohmann::json({"2.5"}));
  EXPECT_EQ(run.at("layers").at("warmth"), "config");
  EXPECT_EQ(run.at("layers").at("steps"), "command line");
  EXPECT_EQ(run.at("layers").at("clip-norm"), "recipe");

  WarmSettings resumed(scene.options("run"));
  resumed.options.work = resumed.options.run, resumed.options.run.clear();  // as when `train` is given only a run
  resumed.settings.say(Layer::kCommandLine, "resume", {"true"});
  resumed.settings.say(Layer::kCommandLine, "steps", {"3"});
  run_train(resumed, {.threads = 2}, scene.progress);
  EXPECT_EQ(resumed.toy.warmth, 2.5);
  EXPECT_EQ(resumed.settings.layer("warmth"), Layer::kRun);
  EXPECT_EQ(run_record(resumed.options).at("layers").at("warmth"), "run");
  EXPECT_EQ(run_record(resumed.options).at("layers").at("clip-norm"), "run") << "it was chosen when the run began";

  WarmSettings other(scene.options("run"));
  other.settings.say(Layer::kCommandLine, "resume", {"true"});
  other.settings.say(Layer::kCommandLine, "steps", {"4"});
  other.settings.say(Layer::kCommandLine, "warmth", {"3"});
  expect_error(ErrorKind::kCheckpoint, "/training/warmth differs",
               [&] { run_train(other, {.threads = 2}, scene.progress); });
}

}  // namespace
}  // namespace voxshard
