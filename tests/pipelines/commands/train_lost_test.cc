// Runs of which no checkpoint is left: one that has trained is not overwritten unasked, one that has not begins anew.
#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

TEST(RunTrain, AResumeWithoutTheCheckpointsThatWereThereIsRefused) {
  TrainingScene scene("train_lost");
  TrainOptions o = scene.options("run");
  run_train(o, scene.progress);
  const std::string rows = Scene::bytes_of(o.run / "results.csv");
  std::filesystem::remove_all(o.run / "checkpoints");
  o.resume = true;
  expect_error(ErrorKind::kCheckpoint, "{restart}", [&] { run_train(o, scene.progress); });
  EXPECT_EQ(Scene::bytes_of(o.run / "results.csv"), rows);
  o.resume = false, o.restart = true;
  EXPECT_EQ(run_train(o, scene.progress).steps, 5);
}

TEST(RunTrain, ARunThatLostItsCheckpointsIsNotBegunAnewUnasked) {
  TrainingScene scene("train_lost_anew");
  TrainOptions o = scene.options("run");
  run_train(o, scene.progress);
  const std::string rows = Scene::bytes_of(o.run / "results.csv"), record = Scene::bytes_of(o.run / "run.json");
  std::filesystem::remove_all(o.run / "checkpoints");
  expect_error(ErrorKind::kCheckpoint, "steps were done", [&] { run_train(o, scene.progress); });
  expect_error(ErrorKind::kCheckpoint, "{restart}", [&] { run_train(o, scene.progress); });
  EXPECT_EQ(Scene::bytes_of(o.run / "results.csv"), rows);
  EXPECT_EQ(Scene::bytes_of(o.run / "run.json"), record);
  o.restart = true;
  EXPECT_EQ(run_train(o, scene.progress).steps, 5);
}

TEST(RunTrain, KilledBeforeItsFirstCheckpointItIsResumedFromStepZero) {
  TrainingScene scene("train_early");
  TrainOptions o = scene.options("run");
  StoppingProgress killing(2, true);
  EXPECT_THROW(run_train(o, killing), std::runtime_error);
  o.resume = true;
  EXPECT_EQ(run_train(o, scene.progress).steps, 5);
}

TEST(RunTrain, KilledBeforeItsFirstCheckpointItIsBegunAnew) {
  TrainingScene scene("train_early_anew");
  const TrainOptions o = scene.options("run");
  StoppingProgress killing(2, true);
  EXPECT_THROW(run_train(o, killing), std::runtime_error);
  EXPECT_EQ(run_train(o, scene.progress).steps, 5);
}

TEST(RunTrain, TheBestOfARunThatWasKilledBeforeItsFirstCheckpointDoesNotStay) {
  TrainingScene scene("train_orphan");
  TrainOptions o = scene.options("run");
  o.checkpoint_every = 100;
  run_train(o, scene.progress);
  const auto best = o.run / "checkpoints/best.safetensors";
  std::filesystem::rename(scene.last("run"), best);
  auto record = read_json(o.run / "run.json");
  record["saved_checkpoints"] = false;
  std::ofstream(o.run / "run.json") << record;
  run_train(o, scene.progress);
  EXPECT_FALSE(std::filesystem::exists(best));
}

}  // namespace
}  // namespace voxshard
