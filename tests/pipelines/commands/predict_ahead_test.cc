// Volumes that are read ahead: outputs, log and errors are those of reading in turn, within the memory of the process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/pipelines/beside_scene.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

TEST(RunPredictAhead, GivesTheSameBytesAndTheSameLog) {
  BesideScene scene("ahead_same");
  Scene::truncate(scene.image(1));  // the second is unreadable: it is told in its turn
  RecordingProgress with, without;
  const PredictReport ahead = run_predict(scene.predict(true, "ahead"), with);
  const PredictReport in_turn = run_predict(scene.predict(false, "turn"), without);
  EXPECT_EQ(timeless(with), timeless(without));
  ASSERT_EQ(ahead.cases.size(), 2u);
  ASSERT_EQ(ahead.failures.size(), 1u);
  EXPECT_EQ(ahead.failures[0].message, in_turn.failures.at(0).message);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(ahead.cases[i].id, in_turn.cases.at(i).id);
  scene.expect_same_outputs("turn", "ahead");
  EXPECT_EQ(in_turn.found.at("stages").at("images_ahead"), 0);
}

TEST(RunPredictAhead, AllButTheFirstAreReadAhead) {
  BesideScene scene("ahead_counts");
  const PredictReport report = run_predict(scene.predict(true, "ahead"), scene.progress);
  const auto& stages = report.found.at("stages");
  EXPECT_EQ(stages.at("images_ahead"), 2);
  EXPECT_EQ(stages.at("images_over_budget"), 0);
  EXPECT_GT(stages.at("read_ahead"), 0.0);
  EXPECT_LE(stages.at("waited_for_reading"), stages.at("reading"));
  EXPECT_THAT(report.text, testing::HasSubstr("2 images were read while the one before was predicted"));
  run_predict(scene.predict(false, "turn"), scene.progress);
  scene.expect_same_outputs("turn", "ahead");
}

TEST(RunPredictAhead, WhatAnEarlierCallPredictedIsNotRead) {
  BesideScene scene("ahead_kept");
  run_predict(scene.predict(true, "out"), scene.progress);
  fs::copy_file(scene.image(0), scene.image(2), fs::copy_options::overwrite_existing);
  const PredictReport again = run_predict(scene.predict(true, "out"), scene.progress);
  EXPECT_EQ(again.kept, 2);
  EXPECT_EQ(again.found.at("stages").at("images_ahead"), 0) << "an image of a known name may be kept";
  EXPECT_TRUE(Scene::bytes_of(scene.path("out/phantom_000.nii.gz")) ==
              Scene::bytes_of(scene.path("out/phantom_002.nii.gz")));
}

/// Replaces the second image when the first is predicted: it may be read already.
struct ReplacesTheSecond : RecordingProgress {
  explicit ReplacesTheSecond(const BesideScene& scene) : scene(scene) {}
  void update(std::string_view stage, std::int64_t done, std::int64_t, std::string_view) override {
    if (stage == "predict" && done == 1)
      fs::copy_file(scene.path("other.nii.gz"), scene.image(1), fs::copy_options::overwrite_existing);
  }
  const BesideScene& scene;
};

TEST(RunPredictAhead, AnImageThatIsReplacedBeforeItsTurnIsReadAgain) {
  BesideScene scene("ahead_replaced");
  Volume other = read_image(scene.image(1));
  for (std::int64_t k = 0; k < other.voxels.count(); ++k) other.voxels.as<float>()[k] = static_cast<float>(k % 300);
  write_volume(scene.path("other.nii.gz"), other, DiskType::kF32);
  ReplacesTheSecond replacing(scene);
  EXPECT_EQ(run_predict(scene.predict(true, "out"), replacing).cases.size(), 3u);
  run_predict(scene.predict(false, "turn"), scene.progress);
  scene.expect_same_outputs("turn", "out");
  EXPECT_EQ(run_predict(scene.predict(true, "out"), scene.progress).kept, 3) << "the hashes are of what was predicted";
}

struct StopsAfterOne : RecordingProgress {
  void update(std::string_view stage, std::int64_t done, std::int64_t, std::string_view) override {
    stop = stop || (stage == "predict" && done >= 1);
  }
};

TEST(RunPredictAhead, AStopDropsWhatWasReadAhead) {
  BesideScene scene("ahead_stopped");
  StopsAfterOne stopping;
  const PredictReport first = run_predict(scene.predict(true, "out"), stopping);
  EXPECT_TRUE(first.interrupted);
  EXPECT_EQ(first.cases.size(), 1u);
  EXPECT_EQ(first.not_reached, (std::vector<std::string>{"phantom_001", "phantom_002"}));
  EXPECT_FALSE(fs::exists(scene.path("out/phantom_001.nii.gz")));
  EXPECT_EQ(run_predict(scene.predict(true, "out"), scene.progress).kept, 1);
  run_predict(scene.predict(false, "turn"), scene.progress);
  for (int i = 0; i < 3; ++i) {
    const std::string file = "phantom_00" + std::to_string(i) + ".nii.gz";
    EXPECT_TRUE(Scene::bytes_of(scene.path("out") / file) == Scene::bytes_of(scene.path("turn") / file)) << file;
  }
}

TEST(RunPredictAhead, ThePlanCountsBothAndOverTheBudgetItIsOneAtATime) {
  BesideScene scene("ahead_memory");
  const std::int64_t image_bytes = scene.make_large_images();
  run_predict(scene.predict(false, "warm"), scene.progress);  // libraries are loaded, and counted, once
  const PredictReport in_turn = run_predict(scene.predict(false, "turn"), scene.progress);
  const PredictReport ahead = run_predict(scene.predict(true, "ahead"), scene.progress);
  ASSERT_EQ(ahead.found.at("stages").at("images_ahead"), 2) << "this machine has less than 300 MB of free memory";
  EXPECT_GE(ahead.memory.plan.total(), in_turn.memory.plan.total() + image_bytes / 2);
  scene.expect_same_outputs("turn", "ahead");

  const std::int64_t budget = scene.alone_bytes(scene.path("in/large_0.nii")) + image_bytes / 2;
  const PredictReport narrow =
      run_predict(scene.predict(true, "narrow"), {scene.progress, {.host_budget_bytes = budget}});
  EXPECT_EQ(narrow.found.at("stages").at("images_ahead"), 0);
  EXPECT_EQ(narrow.found.at("stages").at("images_over_budget"), 2);
  EXPECT_LE(narrow.memory.plan.total(), budget);
  EXPECT_THAT(narrow.text, testing::HasSubstr("2 images were read in turn: the memory"));
  scene.expect_same_outputs("turn", "narrow");
}

}  // namespace
}  // namespace voxshard
