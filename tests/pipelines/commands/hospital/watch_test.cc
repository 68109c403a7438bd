// predict --watch: what arrives is predicted and moves away; what is bad moves aside; a file that comes again under its
// name gives a new prediction; a stop while it waits is its normal end.
#include <algorithm>
#include <fstream>

#include "io/audit/sha256.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/engine/audit_trail.h"
#include "pipelines/tasks/segmentation/inputs/arriving_images.h"
#include "pipelines/tasks/segmentation/inputs/input_cases.h"
#include "pipelines/tasks/segmentation/inputs/volume_reading.h"
#include "tests/pipelines/channel_scene.h"
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
  int batches = 0;
  void batch_ended() override { ++batches; }
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
  scene.arrive(0, "a.nii.gz"), scene.arrive(1, "c.nii.gz");
  std::ofstream(scene.path("inbox/broken.nii.gz")) << "no volume";
  std::ofstream(scene.path("inbox/notes.txt")) << "foreign";
  fs::path deep = scene.path("inbox/deep");
  for (int i = 0; i < 40; ++i) deep /= "a";
  fs::create_directories(deep);
  ArrivalProgress progress;
  progress.after[3] = [&] { scene.arrive(1, "b.nii.gz"), scene.arrive(2, "a.nii.gz"); };  // another image named a
  progress.after[5] = [&] { progress.stop = true; };
  const PredictReport report = run_predict(scene.watch(), progress);
  EXPECT_FALSE(report.interrupted) << "a stop while it waits is its normal end";
  EXPECT_EQ(report.cases.size(), 4u);
  EXPECT_EQ(progress.batches, 2) << "three inputs, then two";
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].id, "broken");
  EXPECT_GT(report.memory.plan.total(), 0);
  EXPECT_THAT(report.seen.trained_on, testing::UnorderedElementsAre("b", "c"))
      << "of all that arrived; a is another now";
  EXPECT_EQ(report.seen.inputs, 5);
  EXPECT_TRUE(fs::exists(scene.path("out/trained_on.json")));
  EXPECT_LE(report.found.at("stages").at("images_warm"), 2)
      << "the second of each two that arrive together: while nothing waits the memory of the cores goes back";
  EXPECT_TRUE(Scene::bytes_of(scene.path("out/a.nii.gz")) == scene.predicted_alone(2)) << "of the later image";
  EXPECT_TRUE(Scene::bytes_of(scene.path("out/b.nii.gz")) == scene.predicted_alone(1));
  for (const char* name : {"done/a.nii.gz", "done/a.nii.gz.2", "done/b.nii.gz", "done/failed/broken.nii.gz"})
    EXPECT_TRUE(fs::exists(scene.path(name))) << name;
  EXPECT_TRUE(Scene::bytes_of(scene.path("done/a.nii.gz")) == Scene::bytes_of(scene.image(0)));
  EXPECT_TRUE(fs::exists(scene.path("inbox/notes.txt"))) << "what is no volume stays";
  EXPECT_THAT(progress.lines, testing::Contains(HasSubstr("1 folder of the inbox left in place"))) << "and is said";
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

/// A run of two channels and an inbox.
struct ChannelWatchScene : ChannelScene {
  explicit ChannelWatchScene(const std::string& name) : ChannelScene(name) {
    write_channels(3);
    prepare_dataset(preparation(), progress);
    TrainOptions o{.work = work(), .run = path("run"), .steps = 2, .resources = {.threads = 2}};
    o.task.of<VolumeTaskOptions>().fold = "all";
    o.task.of<VolumeTaskOptions>().sampling.crop = {16, 16, 16};
    o.spec.as<UNetConfig>() = {.base_filters = 4, .depth = 3, .norm = NormKind::kInstance, .slope = 0.01};
    o.spec.precision = DType::kF32;
    run_train(o, progress);
    fs::create_directories(path("inbox"));
  }
  void arrive(int i, std::size_t c, const std::string& name) const {
    fs::copy_file(channel(i, c), path("inbox") / (name + "_000" + std::to_string(c) + ".nii"));
  }
  PredictOptions watch() const {
    PredictOptions o{.run = path("run"), .input = path("inbox"), .output = path("out")};
    o.task.of<VolumeReading>() = {.watch = true, .done = path("done"), .quiet_s = 0};
    return o;
  }
};

TEST(RunWatch, AChannelThatWaitsForAnotherIsSaidOnceAndPredictedWithIt) {
  ChannelWatchScene scene("watch_channels");
  for (const std::size_t c : {0, 1}) scene.arrive(0, c, "b");
  scene.arrive(1, 0, "a");
  std::string waiting;  // the list while a waits
  ArrivalProgress progress;
  progress.after[2] = [&] { scene.arrive(2, 0, "c"), scene.arrive(2, 1, "c"); };
  progress.after[3] = [&] {
    waiting = Scene::bytes_of(scene.path("out/quarantine.csv"));
    scene.arrive(1, 1, "a");
  };
  progress.after[4] = [&] { progress.stop = true; };
  const PredictReport report = run_predict(scene.watch(), progress);
  EXPECT_EQ(report.cases.size(), 3u);
  EXPECT_THAT(waiting, HasSubstr("a,E_MISSING"));
  EXPECT_TRUE(report.failures.empty()) << "it was predicted when its other channel had come";
  EXPECT_EQ(to_json(report).at("summary").at("inputs"), 3) << "none is counted twice";
  EXPECT_EQ(Scene::bytes_of(scene.path("out/quarantine.csv")), "case,code,message\n");
  EXPECT_EQ(std::ranges::count_if(progress.lines, [](const std::string& line) { return line.starts_with("a: "); }), 1)
      << "said again when c arrived";
  EXPECT_TRUE(fs::is_empty(scene.path("inbox")));
}

TEST(RunWatch, WhatFailedLeavesTheListsWhenItIsSentAgain) {
  WatchScene scene("watch_again");
  std::ofstream(scene.path("inbox/a.nii.gz")) << "no volume";
  std::ofstream(scene.path("inbox/b.nii.gz")) << "no volume";
  PredictOptions o = scene.watch();
  o.task.of<AuditRequest>().file = scene.path("audit.jsonl");
  ArrivalProgress progress;
  progress.after[2] = [&] {
    EXPECT_THAT(Scene::bytes_of(scene.path("out/quarantine.csv")), HasSubstr("a,E_READ"));
    scene.arrive(0, "a.nii.gz");
    std::ofstream(scene.path("inbox/b.nii.gz")) << "none either";
  };
  progress.after[4] = [&] { progress.stop = true; };
  const PredictReport report = run_predict(o, progress);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].id, "b") << "once";
  EXPECT_EQ(to_json(report).at("summary").at("inputs"), 2);
  const std::string list = Scene::bytes_of(scene.path("out/quarantine.csv"));
  EXPECT_THAT(list, testing::Not(HasSubstr("a,E_READ")));
  EXPECT_EQ(std::ranges::count(list, '\n'), 2) << "its head, and the row of b";
  const std::string audit = Scene::bytes_of(scene.path("audit.jsonl"));
  EXPECT_EQ(std::ranges::count(audit, '\n'), 4) << "every outcome stays in the audit";
  EXPECT_THAT(audit, HasSubstr("\"outcome\":\"predicted\""));
}

TEST(RunWatch, WhatWasPredictedLeavesTheListsWhenItIsSentAgainBroken) {
  WatchScene scene("watch_broken_again");
  scene.arrive(0, "a.nii.gz"), scene.arrive(1, "b.nii.gz");
  PredictOptions o = scene.watch();
  o.task.of<AuditRequest>().file = scene.path("audit.jsonl");
  ArrivalProgress progress;
  progress.after[2] = [&] { std::ofstream(scene.path("inbox/a.nii.gz")) << "no volume"; };
  progress.after[3] = [&] { scene.arrive(2, "c.nii.gz"); };
  progress.after[4] = [&] { progress.stop = true; };
  const PredictReport report = run_predict(o, progress);
  ASSERT_EQ(report.cases.size(), 2u);
  EXPECT_EQ(report.cases[0].id, "b");
  EXPECT_EQ(report.cases[1].id, "c");
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].id, "a");
  EXPECT_FALSE(fs::exists(scene.path("out/a.nii.gz")));
  EXPECT_EQ(to_json(report).at("summary").at("inputs"), 3) << "none is counted twice";
  EXPECT_EQ(std::ranges::count(Scene::bytes_of(scene.path("audit.jsonl")), '\n'), 4) << "every outcome stays in it";
}

TEST(RunWatch, AFileOfAllChannelsMovesAwayWhole) {
  ChannelWatchScene scene("watch_whole");
  scene.write_whole(scene.path("inbox/whole.nii"), 0);
  ArrivalProgress progress;
  progress.after[1] = [&] { scene.arrive(1, 0, "b"), scene.arrive(1, 1, "b"); };
  progress.after[2] = [&] { progress.stop = true; };
  EXPECT_EQ(run_predict(scene.watch(), progress).cases.size(), 2u) << "the watch goes on";
  EXPECT_TRUE(fs::exists(scene.path("done/whole.nii")));
}

TEST(RunWatch, AChannelThatMayStillBeCopiedIsNotPredicted) {
  ChannelScene scene("watch_copied");
  scene.write_channels(1);
  fs::create_directories(scene.path("inbox"));
  const VolumeFormats formats = volume_formats();
  const auto cases_of = [&](const std::vector<fs::path>& images) {
    return cases_of_images(images, {"CT", "PET"}, formats);
  };
  ArrivingImages arriving({.folder = scene.path("inbox"), .done = scene.path("done"), .quiet_s = 0}, {}, formats,
                          scene.progress);
  fs::copy_file(scene.channel(0, 0), scene.path("inbox/a_0000.nii"));
  const std::vector<fs::path> images = arriving.wait();
  fs::copy_file(scene.channel(0, 1), scene.path("inbox/a_0001.nii"));  // it has not been seen to be quiet
  InputCases early = cases_of(images);
  ASSERT_EQ(early.cases.size(), 1u) << "it is found beside the other channel";
  arriving.keep_complete(early.cases, early.failures);
  EXPECT_TRUE(early.cases.empty());
  InputCases complete = cases_of(arriving.wait());
  arriving.keep_complete(complete.cases, complete.failures);
  EXPECT_EQ(complete.cases.size(), 1u);
}

TEST(RunWatch, AChannelThatStillWaitsAtTheStopIsLeftOutAndTheWatchEndsWell) {
  ChannelWatchScene scene("watch_waits");
  scene.arrive(0, 0, "a");
  struct StopWhenSaid : RecordingProgress {
    void log(std::string_view line) override {
      RecordingProgress::log(line);
      stop = stop || line.find("[quarantined]") != std::string_view::npos;
    }
  } progress;
  const PredictReport report = run_predict(scene.watch(), progress);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].code, "E_MISSING");
  EXPECT_THAT(Scene::bytes_of(scene.path("out/quarantine.csv")), HasSubstr("a,E_MISSING"));
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
  const PredictReport report = run_predict(o, {progress, {.core_budget_bytes = 1 << 20}});
  ASSERT_EQ(report.failures.size(), 1u) << "a watch in which all failed so far ends with a report, and exit 8";
  EXPECT_EQ(report.failures[0].code, "E_BUDGET");
  EXPECT_FALSE(report.interrupted);
  ASSERT_TRUE(fs::exists(scene.path("done/failed/a.nii.gz")));
  const std::string line = Scene::bytes_of(scene.path("audit.jsonl"));
  EXPECT_THAT(line, HasSubstr("\"outcome\":\"failed\""));
  EXPECT_THAT(line, HasSubstr("\"input\":\"" + file_sha256(scene.image(0)) + "\""));
}

TEST(RunWatch, WhereNoBudgetHoldsWhatArrivedEachIsLeftOutForItsOwnReason) {
  struct StopAfterTwoRefusals : RecordingProgress {
    int refused = 0;
    void log(std::string_view line) override {
      RecordingProgress::log(line);
      refused += line.find("[quarantined]") != std::string_view::npos;
      stop = stop || refused == 2;
    }
  };
  WatchScene scene("watch_reasons");
  scene.arrive(0, "a.nii.gz");
  std::ofstream(scene.path("inbox/broken.nii.gz")) << "no volume";
  StopAfterTwoRefusals progress;
  EXPECT_EQ(run_predict(scene.watch(), {progress, {.core_budget_bytes = 1 << 20}}).failures.size(), 2u);
  const std::string list = Scene::bytes_of(scene.path("out/quarantine.csv"));
  EXPECT_THAT(list, HasSubstr("a,E_BUDGET"));
  EXPECT_THAT(list, HasSubstr("broken,E_READ")) << "more memory would not help it";
  EXPECT_EQ(std::ranges::count(list, '\n'), 3) << "a line for each: the table of allocations is left out";
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
