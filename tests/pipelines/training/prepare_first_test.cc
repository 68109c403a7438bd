// `train` on a data set that is not prepared: the bytes of the two commands, and a folder that is used again.
#include "pipelines/training/prepare_first.h"

#include <gmock/gmock.h>

#include "pipelines/training/train_settings.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::Contains, testing::HasSubstr;

TrainReport train_on(const Scene& scene, const fs::path& work, const std::string& run, Progress& progress) {
  TrainSettings train;
  train.options.work = work, train.options.run = scene.path(run);
  for (const auto& [name, word] : std::vector<std::pair<std::string, std::string>>{
           {"steps", "2"}, {"crop", "8x8x8"}, {"base-filters", "4"}, {"depth", "2"}, {"fold", "all"}})
    train.settings.say(Layer::kCommandLine, name, {word});
  return run_train(train, {.threads = 2}, progress);
}

TEST(PrepareFirst, TheBytesAreThoseOfTheTwoCommandsAndTheFolderIsSaid) {
  Scene scene("prepare_first");
  scene.write_dataset(3);
  const TrainReport report = train_on(scene, scene.data(), "run", scene.progress);
  ASSERT_TRUE(report.prepared.has_value());
  EXPECT_EQ(report.prepared->folder, scene.path("data_prepared"));
  EXPECT_EQ(report.prepared->prepared, 3);
  EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("into " + scene.path("data_prepared").string())));
  prepare_dataset({.dataset = scene.data(), .work = scene.work()}, scene.progress);
  const TrainReport second = train_on(scene, scene.work(), "by_hand", scene.progress);
  EXPECT_FALSE(second.prepared.has_value()) << "it is prepared";
  EXPECT_TRUE(scene.last_bytes("run") == scene.last_bytes("by_hand"));
  for (const char* file : {"plans.json", "dataset.json", "images/case_1.nii", "labels/case_1.nii"})
    EXPECT_TRUE(Scene::bytes_of(scene.path("data_prepared") / file) == Scene::bytes_of(scene.work() / file)) << file;
}

TEST(PrepareFirst, WhatIsPreparedIsUsedAgainWhileItsDataStayTheSame) {
  Scene scene("prepare_again");
  scene.write_dataset(3);
  train_on(scene, scene.data(), "run", scene.progress);
  const TrainReport again = train_on(scene, scene.data() / "", "other", scene.progress);
  EXPECT_EQ(again.prepared->folder, scene.path("data_prepared")) << "with a slash too";
  EXPECT_EQ(again.prepared->kept, 3);
  EXPECT_EQ(again.prepared->prepared, 0);
  EXPECT_TRUE(scene.last_bytes("run") == scene.last_bytes("other"));
  write_volume(scene.image(1), Scene::make_image(9), DiskType::kI16);
  EXPECT_GT(train_on(scene, scene.data(), "changed", scene.progress).prepared->prepared, 0);
}

TEST(PrepareFirst, WhereCasesAreGoneTheErrorNamesTheFolderToRemove) {
  Scene scene("prepare_gone");
  scene.write_dataset(3);
  train_on(scene, scene.data(), "run", scene.progress);
  fs::remove(scene.image(2)), fs::remove(scene.label(2));
  expect_error(ErrorKind::kOutput, "remove " + scene.path("data_prepared").string(),
               [&] { train_on(scene, scene.data(), "fewer", scene.progress); });
  fs::remove_all(scene.path("data_prepared"));
  EXPECT_EQ(train_on(scene, scene.data(), "fewer", scene.progress).prepared->prepared, 2);
}

TEST(PrepareFirst, ADataSetThatDemoWroteIsOneToo) {
  const TrainingScene scene("prepare_demo");  // its folder has a manifest, that of demo
  RecordingProgress progress;
  const TrainReport report = train_on(scene, scene.data(), "run", progress);
  ASSERT_TRUE(report.prepared.has_value());
  EXPECT_EQ(report.prepared->prepared, 2);
}

TEST(PrepareFirst, AStopKeepsWhatIsPreparedAndTheSameCommandGoesOn) {
  Scene scene("prepare_stopped");
  scene.write_dataset(3);
  RecordingProgress stops;
  stops.stop = true;
  EXPECT_THROW(train_on(scene, scene.data(), "run", stops), Stopped);
  EXPECT_FALSE(fs::exists(scene.path("run") / "checkpoints"));
  EXPECT_EQ(train_on(scene, scene.data(), "run", scene.progress).steps, 2);
}

TEST(PrepareFirst, WhatIsNoDataSetIsLeftToTheErrorThatNamesTheCommand) {
  Scene scene("prepare_other");
  fs::create_directories(scene.path("empty"));
  expect_error(ErrorKind::kInput, "voxshard prepare",
               [&] { train_on(scene, scene.path("empty"), "run", scene.progress); });
  EXPECT_FALSE(fs::exists(scene.path("empty_prepared")));
}

}  // namespace
}  // namespace voxshard
