// predict --watch: what arrives is predicted and moves away; what is bad moves aside; a file that comes again under its
// name gives a new prediction; a stop while it waits is its normal end.
#include <fstream>

#include "io/audit/sha256.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/engine/audit_trail.h"
#include "pipelines/tasks/segmentation/volume_reading.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Acts once so many inputs have ended.
struct ArrivalProgress : RecordingProgress {
  std::map<std::int64_t, std::function<void()>> after;
  void update(std::string_view stage, std::int64_t done, std::int64_t, std::string_view) override {
    if (stage != "predict") return;
    if (const auto act = after.extract(done)) act.mapped()();
  }
};

struct WatchScene : TrainingScene {
  explicit WatchScene(const std::string& name) : TrainingScene(name) {
    TrainOptions o = options("run");
    o.steps = 2;
    run_train(o, progress);
    fs::create_directories(path("inbox"));
  }
  /// The image of a training case, or of the held-out one, 2.
  fs::path image(int i) const {
    return data() / (i < 2 ? "imagesTr" : "imagesTs") / ("phantom_00" + std::to_string(i) + "_0000.nii.gz");
  }
  void arrive(int i, const std::string& name) const { fs::copy_file(image(i), path("inbox") / name); }
  PredictOptions watch() const {
    PredictOptions o{.run = path("run"), .input = path("inbox"), .output = path("out")};
    o.task.of<VolumeReading>() = {.watch = true, .done = path("done"), .quiet_s = 0};
    return o;
  }
  std::string predicted_alone(int i) const {
    const PredictOptions o{.run = path("run"), .input = image(i), .output = path("alone" + std::to_string(i))};
    NoProgress none;
    return bytes_of(run_predict(o, none).cases.at(0).file);
  }
};

TEST(RunWatch, WhatArrivesIsPredictedAndMovesAway) {
  WatchScene scene("watch");
  scene.arrive(0, "a.nii.gz");
  std::ofstream(scene.path("inbox/broken.nii.gz")) << "no volume";
  std::ofstream(scene.path("inbox/notes.txt")) << "foreign";
  ArrivalProgress progress;
  progress.after[2] = [&] { scene.arrive(1, "b.nii.gz"), scene.arrive(2, "a.nii.gz"); };  // another image named a
  progress.after[4] = [&] { progress.stop = true; };
  const PredictReport report = run_predict(scene.watch(), progress);
  EXPECT_FALSE(report.interrupted) << "a stop while it waits is its normal end";
  EXPECT_EQ(report.cases.size(), 3u);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].id, "broken");
  EXPECT_GT(report.memory.plan.total(), 0);
  EXPECT_LE(report.found.at("stages").at("images_warm"), 1) << "while nothing waits the memory of the cores goes back";
  EXPECT_TRUE(Scene::bytes_of(scene.path("out/a.nii.gz")) == scene.predicted_alone(2)) << "of the later image";
  EXPECT_TRUE(Scene::bytes_of(scene.path("out/b.nii.gz")) == scene.predicted_alone(1));
  for (const char* name : {"done/a.nii.gz", "done/a.nii.gz.2", "done/b.nii.gz", "done/failed/broken.nii.gz"})
    EXPECT_TRUE(fs::exists(scene.path(name))) << name;
  EXPECT_TRUE(Scene::bytes_of(scene.path("done/a.nii.gz")) == Scene::bytes_of(scene.image(0)));
  EXPECT_TRUE(fs::exists(scene.path("inbox/notes.txt"))) << "what is no volume stays";
  EXPECT_THAT(Scene::bytes_of(scene.path("out/quarantine.csv")), HasSubstr("broken,E_READ"));
}

TEST(RunWatch, ARestartTakesWhatTheLastOneLeft) {
  WatchScene scene("watch_restart");
  scene.arrive(0, "a.nii.gz"), scene.arrive(1, "b.nii.gz");
  ArrivalProgress first;
  first.after[1] = [&] { first.stop = true; };
  const PredictReport stopped = run_predict(scene.watch(), first);
  EXPECT_TRUE(stopped.interrupted);
  EXPECT_EQ(stopped.not_reached, (std::vector<std::string>{"b"}));
  EXPECT_TRUE(fs::exists(scene.path("inbox/b.nii.gz")));
  fs::rename(scene.path("done/a.nii.gz"), scene.path("inbox/a.nii.gz"));  // as if killed before a moved
  ArrivalProgress second;
  second.after[2] = [&] { second.stop = true; };
  const PredictReport report = run_predict(scene.watch(), second);
  EXPECT_FALSE(report.interrupted);
  EXPECT_EQ(report.kept, 1);
  EXPECT_TRUE(fs::is_empty(scene.path("inbox")));
  EXPECT_TRUE(Scene::bytes_of(scene.path("out/b.nii.gz")) == scene.predicted_alone(1));
}

TEST(RunWatch, AnInboxInWhichNothingArrivesEndsWell) {
  WatchScene scene("watch_nothing");
  RecordingProgress progress;
  progress.stop = true;
  const PredictReport report = run_predict(scene.watch(), progress);
  EXPECT_FALSE(report.interrupted);
  EXPECT_TRUE(report.cases.empty());
}

TEST(RunWatch, WhatNoBudgetHoldsIsAuditedBeforeItMovesAway) {
  struct StopWhenRefused : RecordingProgress {
    void log(std::string_view line) override {
      RecordingProgress::log(line);
      stop = stop || line.find("[quarantined]") != std::string_view::npos;
    }
  };
  WatchScene scene("watch_audit");
  scene.arrive(0, "a.nii.gz");
  PredictOptions o = scene.watch();
  o.task.of<AuditRequest>().file = scene.path("audit.jsonl");
  StopWhenRefused progress;
  EXPECT_THROW(run_predict(o, {progress, {.core_budget_bytes = 1 << 20}}), Error) << "nothing was predicted";
  ASSERT_TRUE(fs::exists(scene.path("done/failed/a.nii.gz")));
  const std::string line = Scene::bytes_of(scene.path("audit.jsonl"));
  EXPECT_THAT(line, HasSubstr("\"outcome\":\"failed\""));
  EXPECT_THAT(line, HasSubstr("\"input\":\"" + file_sha256(scene.image(0)) + "\""));
}

TEST(RunWatch, FoldersThatWouldMixAreRefused) {
  WatchScene scene("watch_refused");
  scene.progress.stop = true;  // what is not refused would wait for ever
  PredictOptions o = scene.watch();
  o.task.of<VolumeReading>().done.clear();
  expect_error(ErrorKind::kUsage, "go together", [&] { run_predict(o, scene.progress); });
  o.task.of<VolumeReading>() = {.done = scene.path("done")};
  expect_error(ErrorKind::kUsage, "go together", [&] { run_predict(o, scene.progress); });
  o = scene.watch(), o.held_out = true;
  expect_error(ErrorKind::kUsage, "about what is there", [&] { run_predict(o, scene.progress); });
  o = scene.watch();
  for (const char* done : {"out/done", "inbox/done", "."}) {
    o.task.of<VolumeReading>() = {.watch = true, .done = scene.path(done)};
    expect_error(ErrorKind::kUsage, "one in the other", [&] { run_predict(o, scene.progress); });
  }
}

}  // namespace
}  // namespace voxshard
