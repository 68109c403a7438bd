// The predictions of what a run held out: the same that `predict` makes by hand, for every task, scored without
// anything missing; kept when it goes on, gone when it trains on; the same bytes over ranks.
#include "pipelines/training/held_out.h"

#include <gmock/gmock.h>

#include <map>

#include "pipelines/commands/run_evaluate.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/training/train_settings.h"
#include "tests/pipelines/training/task_scenes.h"
#include "tests/ranks/mailbox.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::Contains, testing::HasSubstr;

TrainOptions asked(TrainOptions o) {
  o.held_out = HeldOutMode::kOn;
  return o;
}

/// Five phantoms at 8 mm, of which each fold holds out one.
TrainOptions of_fold(const TrainingScene& scene, const std::string& fold, const std::string& run) {
  TrainOptions o = asked(scene.options(run));
  volumes(o).fold = fold;
  return o;
}

/// Asks to stop once so many inputs are predicted.
struct StopsPrediction : RecordingProgress {
  explicit StopsPrediction(std::int64_t after) : after_(after) {}
  void update(std::string_view stage, std::int64_t done, std::int64_t, std::string_view) override {
    if (stage == "predict" && done >= after_) stop = true;
  }

 private:
  std::int64_t after_;
};

/// The files of a folder by name, without its lock and lists of its own.
std::map<std::string, std::string> results_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name != "manifest.jsonl" && !name.starts_with("."))
      files[name] = Scene::bytes_of(entry.path());
  }
  return files;
}

TEST(HeldOut, OfEveryTaskItIsWhatPredictMakesByHandAndAllOfItIsScored) {
  for (const TaskScene& task : task_scenes()) {
    SCOPED_TRACE(task.name);
    TaskRun run(task, "held_out");
    const TrainOptions o = asked(run.options("run"));
    const TrainReport report = run_train(o, run.progress);
    ASSERT_TRUE(report.held_out.has_value());
    const HeldOutReport& held = *report.held_out;
    EXPECT_EQ(held.problem, "");
    EXPECT_EQ(held.failures.size(), 0u);
    EXPECT_GT(held.predicted, 0);
    ASSERT_GE(held.next.size(), 3u);
    EXPECT_EQ(held.next[0], "evaluate");
    EXPECT_EQ(held.next[1], held.output.string());
    const fs::path folder = run.scene->path("run") / kHeldOutFolder;
    fs::path by_hand = run.scene->path("by_hand");
    if (held.output != folder) by_hand /= held.output.filename();
    PredictOptions predict{.run = o.run, .output = by_hand, .held_out = true, .models = {o.spec.model}};
    predict.input = std::string(task.name) == "volumes" ? run.scene->data() / "imagesTr" : fs::path(held.next[2]);
    run_predict(predict, {run.progress, {.threads = 2}});
    EXPECT_EQ(results_in(folder), results_in(run.scene->path("by_hand")));
    const TaskReport scores =
        run_evaluate({.predictions = held.output, .references = held.next[2]}, {run.progress, {.threads = 2}});
    EXPECT_FALSE(scores.partial) << scores.text;
  }
}

TEST(HeldOut, TheFoldsOfASetPredictEachCaseOnceByARunThatDidNotSeeIt) {
  TrainingScene scene("held_out_folds", 5);
  std::set<std::string> names;
  for (const char* fold : {"0", "1", "2", "3", "4"}) {
    const TrainReport report = run_train(of_fold(scene, fold, std::string("run") + fold), scene.progress);
    EXPECT_EQ(report.held_out->predicted, 1);
    for (const auto& [name, bytes] : results_in(scene.path(std::string("run") + fold) / kHeldOutFolder))
      if (name.ends_with(".nii.gz")) {
        EXPECT_TRUE(names.insert(name).second) << name;
      }
  }
  EXPECT_EQ(names.size(), 5u);
}

TEST(HeldOut, AStopLosesNothingAndTheRunGoesOnToTheSameBytes) {
  TrainingScene scene("held_out_stop", 7);  // fold 0 holds out two
  EXPECT_EQ(run_train(of_fold(scene, "0", "whole"), scene.progress).held_out->predicted, 2);
  StopsPrediction stops(1);
  const TrainReport stopped = run_train(of_fold(scene, "0", "run"), stops);
  EXPECT_TRUE(stopped.interrupted);
  EXPECT_EQ(stopped.steps, 5) << "the training is complete";
  EXPECT_EQ(stopped.held_out->predicted, 1);
  EXPECT_EQ(stopped.held_out->not_reached, 1);
  TrainOptions again = of_fold(scene, "0", "run");
  again.resume = true;
  const TrainReport report = run_train(again, scene.progress);
  EXPECT_FALSE(report.interrupted);
  EXPECT_EQ(report.held_out->predicted, 1);
  EXPECT_EQ(report.held_out->kept, 1);
  EXPECT_EQ(results_in(scene.path("run") / kHeldOutFolder), results_in(scene.path("whole") / kHeldOutFolder));
}

TEST(HeldOut, ARunThatTrainsOnDropsWhatAnEarlierStatePredicted) {
  TrainingScene scene("held_out_more", 5);
  run_train(of_fold(scene, "1", "run"), scene.progress);
  const auto before = results_in(scene.path("run") / kHeldOutFolder);
  TrainOptions more = of_fold(scene, "1", "run");
  more.restart = true, more.steps = 40, more.held_out = HeldOutMode::kOff;
  more.optimizer.learning_rate = 0.01;
  run_train(more, scene.progress);
  EXPECT_FALSE(fs::exists(scene.path("run") / kHeldOutFolder)) << "they were of the run that was thrown away";
  more.restart = false, more.resume = true, more.held_out = HeldOutMode::kOn;
  EXPECT_EQ(run_train(more, scene.progress).held_out->predicted, 1) << "a finished run predicts when it is asked later";
  EXPECT_NE(results_in(scene.path("run") / kHeldOutFolder), before);
}

TEST(HeldOut, OverRanksItHasTheBytesOfOneProcess) {
  TrainingScene scene("held_out_ranks", 5);
  TrainOptions o = of_fold(scene, "2", "alone");
  o.spec.cut.mesh.partition = {1, 2, 1, 1, 1};
  run_train(o, scene.progress);
  for (const bool cut : {true, false}) {  // uncut there are more ranks than cores of a sample: rank 0 predicts alone
    o.run = scene.path(cut ? "over" : "replicas");
    o.spec.cut.mesh.partition = cut ? Dims{1, 2, 1, 1, 1} : Dims{1, 1, 1, 1, 1};
    o.spec.cut.mesh.replicas = cut ? 1 : 2, o.batch = cut ? 1 : 2;
    test::Mailbox mailbox(2);
    test::run_valid_ranks(mailbox, [&](Transport& transport) {
      RecordingProgress progress;
      TrainOptions mine = o;
      mine.resources = {.threads = 1, .transport = &transport};
      const TrainReport report = run_train(mine, progress);
      ASSERT_TRUE(report.held_out.has_value());
      EXPECT_EQ(report.held_out->predicted, transport.rank() == 0 ? 1 : 0);
    });
    const auto files = results_in(o.run / kHeldOutFolder);
    EXPECT_EQ(files.size(), results_in(scene.path("alone") / kHeldOutFolder).size());
    if (cut) {
      EXPECT_EQ(files, results_in(scene.path("alone") / kHeldOutFolder));
    }
  }
}

TEST(HeldOut, ItIsPredictedWhereAFoldIsNamedOrItIsAskedFor) {
  TrainingScene scene("held_out_auto", 5);
  const auto trained = [&](const std::string& run, const std::vector<std::pair<std::string, std::string>>& said) {
    TrainSettings train;
    train.options.work = scene.work(), train.options.run = scene.path(run);
    for (const auto& [name, word] : std::vector<std::pair<std::string, std::string>>{
             {"steps", "2"}, {"crop", "16x16x16"}, {"base-filters", "4"}, {"depth", "2"}})
      train.settings.say(Layer::kCommandLine, name, {word});
    for (const auto& [name, word] : said) train.settings.say(Layer::kCommandLine, name, {word});
    return run_train(train, {.threads = 2}, scene.progress).held_out.has_value();
  };
  EXPECT_FALSE(trained("plain", {}));
  EXPECT_TRUE(trained("fold", {{"fold", "1"}}));
  EXPECT_FALSE(trained("all", {{"fold", "all"}}));
  EXPECT_FALSE(trained("off", {{"fold", "1"}, {"predict-held-out", "off"}}));
  EXPECT_TRUE(trained("on", {{"predict-held-out", "on"}}));
}

TEST(HeldOut, WhatCannotBePredictedIsRefusedWhereItIsAskedForAndElseSaid) {
  TrainingScene scene("held_out_gone", 5);
  expect_error(ErrorKind::kConfig, "{predict-held-out} on: nothing is held out",
               [&] { run_train(of_fold(scene, "all", "none"), scene.progress); });
  fs::rename(scene.data() / "imagesTr", scene.path("moved"));
  expect_error(ErrorKind::kConfig, "which does not have their images now",
               [&] { run_train(of_fold(scene, "0", "run"), scene.progress); });
  TrainOptions o = of_fold(scene, "0", "run");
  o.held_out = HeldOutMode::kAuto, o.given["fold"] = {"0"};
  EXPECT_FALSE(run_train(o, scene.progress).held_out.has_value());
  EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("what is held out is not predicted when the run ends")));
}

TEST(HeldOut, AnImageThatIsDamagedMeanwhileCostsItselfAndNotTheTraining) {
  TrainingScene scene("held_out_torn", 7);
  const TrainOptions o = of_fold(scene, "0", "run");
  const TrainReport first = run_train(o, scene.progress);
  ASSERT_EQ(first.held_out->predicted, 2);
  std::vector<std::string> names;
  for (const auto& [name, bytes] : results_in(o.run / kHeldOutFolder))
    if (name.ends_with(".nii.gz")) names.push_back(name.substr(0, name.find('.')));
  for (const std::string& name : names)
    std::ofstream(scene.data() / "imagesTr" / (name + "_0000.nii.gz"), std::ios::app) << "changed";
  TrainOptions again = o;
  again.resume = true;
  const TrainReport report = run_train(again, scene.progress);
  EXPECT_EQ(report.steps, 5);
  EXPECT_THAT(report.held_out->problem, HasSubstr("none of the 7 inputs holds what validated the run"));
  EXPECT_TRUE(report.to_json().at("held_out").contains("problem"));
}

}  // namespace
}  // namespace voxshard
