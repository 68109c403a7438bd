// Checkpoints by time: what a kill costs, and that they change nothing of what is computed.
#include "pipelines/model_runs/checkpoint.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

TrainOptions rarely_saved(const TrainingScene& scene, const std::string& run, double minutes) {
  TrainOptions o = scene.options(run);
  o.steps = 7, o.checkpoint_every = 1000, o.checkpoint_minutes = minutes;
  return o;
}

TEST(CheckpointMinutes, AKillCostsNoMoreThanTheTimeAndTheRunGoesOnToTheSameBytes) {
  TrainingScene scene("checkpoint_minutes");
  run_train(rarely_saved(scene, "whole", 0), scene.progress);
  constexpr double kAlways = 1e-9;  // minutes: less than a step takes
  for (const double minutes : {0.0, kAlways}) {
    const std::string name = minutes > 0 ? "timed" : "by_steps";
    TrainOptions o = rarely_saved(scene, name, minutes);
    StoppingProgress killing(5, true);
    EXPECT_THROW(run_train(o, killing), std::runtime_error);
    EXPECT_EQ(std::filesystem::exists(scene.last(name)), minutes > 0) << "by steps alone all of them are lost";
    if (minutes > 0) {
      EXPECT_EQ(load_checkpoint(scene.last(name)).state.step, 5);
    }
    o.resume = true;
    run_train(o, scene.progress);
    EXPECT_TRUE(scene.last_bytes(name) == scene.last_bytes("whole")) << name;
  }
}

TEST(CheckpointMinutes, ALongTimeAddsNoneToThoseBySteps) {
  TrainingScene scene("checkpoint_hours");
  TrainOptions o = rarely_saved(scene, "run", 1e6);
  o.kept.last = 100, o.checkpoint_every = 3;
  run_train(o, scene.progress);
  EXPECT_TRUE(std::filesystem::exists(o.run / "checkpoints/step-000003.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(o.run / "checkpoints/step-000004.safetensors"));
}

}  // namespace
}  // namespace voxshard
