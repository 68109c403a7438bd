// What a run knows of its data: a new one takes the hashes that `prepare` noted, one that goes on reads the files.
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

struct StagesProgress : RecordingProgress {
  void update(std::string_view stage, std::int64_t, std::int64_t, std::string_view) override { stages.emplace(stage); }
  std::set<std::string> stages;
};

TEST(RunTrain, OnlyARunThatGoesOnReadsPreparedFilesForTheirHashes) {
  TrainingScene scene("train_hashes");
  TrainOptions o = scene.options("run");
  o.threads = 1, o.steps = 2;
  StagesProgress fresh, resumed;
  run_train(o, fresh);
  EXPECT_FALSE(fresh.stages.contains("check data"));
  o.resume = true, o.steps = 3;
  EXPECT_EQ(run_train(o, resumed).steps, 3) << "what was noted is what is read";
  EXPECT_TRUE(resumed.stages.contains("check data"));
}

}  // namespace
}  // namespace voxshard
