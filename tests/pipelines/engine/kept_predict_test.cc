// Objects and classes that an earlier call of predict found, before it was killed or in another night, are kept where
// input, run, options and cut are the same: the output has the bytes that it has without an interruption.
#include <gmock/gmock.h>

#include <algorithm>

#include "io/files/config_file.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/engine/predicted_file.h"
#include "pipelines/tasks/detection/predict_detections.h"
#include "tests/pipelines/tasks/classification/class_scene.h"
#include "tests/pipelines/tasks/classification/toy_classifier.h"
#include "tests/pipelines/tasks/detection/images_scene.h"
#include "tests/ranks/mailbox.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::Contains, testing::HasSubstr;

void kill_after(std::int64_t inputs, const PredictOptions& o) {
  StoppingProgress dies(inputs, true, "predict");
  EXPECT_THROW(run_predict(o, dies), std::runtime_error);
  EXPECT_FALSE(fs::exists(o.output));
}

std::int64_t count_lines(const fs::path& file) {
  const std::string text = Scene::bytes_of(file);
  return std::ranges::count(text, '\n');
}

/// A detector, and a folder of seven images of two sizes.
struct KeptObjects : ImagesScene {
  explicit KeptObjects(const std::string& name) : ImagesScene(name) {
    TrainOptions o = options("run");
    o.steps = 12, detection_options(o).held_out.validate = false, o.optimizer.learning_rate = 3e-3;
    run_train(o, progress);
  }
  PredictOptions predict(const std::string& output = "found.json", const std::string& draw = "") const {
    PredictOptions o{.run = path("run"), .input = data() / "images", .output = path(output)};
    o.task.of<DetectionPrediction>().postprocess = "legacy";
    if (!draw.empty()) o.task.of<DetectionPrediction>().draw = path(draw);
    return o;
  }
  fs::path parts() const { return parts_file_of(path("found.json")); }
};

TEST(KeptPredict, ObjectsOfAKilledCallAreKeptToTheSameBytes) {
  KeptObjects scene("kept_objects");
  ASSERT_GT(run_predict(scene.predict("whole.json", "whole"), scene.progress).found.at("detections"), 7);
  PredictOptions o = scene.predict("found.json", "drawn");
  kill_after(3, o);
  EXPECT_EQ(count_lines(scene.parts()), 3);
  const std::string parts = Scene::bytes_of(scene.parts());
  o.dry_run = true;
  const PredictReport rehearsed = run_predict(o, scene.progress);
  EXPECT_EQ(rehearsed.kept, 3);
  EXPECT_EQ(Scene::bytes_of(scene.parts()), parts);
  o.dry_run = false;
  const PredictReport report = run_predict(o, scene.progress);
  EXPECT_EQ(report.kept, 3);
  EXPECT_EQ(report.cases.size(), 7u);
  EXPECT_THAT(report.text, HasSubstr("7 predicted (3 by an earlier call, kept)"));
  EXPECT_TRUE(Scene::bytes_of(o.output) == Scene::bytes_of(scene.path("whole.json")));
  for (int i = 0; i < 7; ++i) {
    const std::string name = "p" + std::to_string(i) + ".png";
    EXPECT_TRUE(Scene::bytes_of(scene.path("drawn") / name) == Scene::bytes_of(scene.path("whole") / name)) << name;
  }
}

TEST(KeptPredict, WhatIsNewOrChangedIsPredictedAloneTheNextNight) {
  KeptObjects scene("kept_nights");
  const PredictOptions o = scene.predict();
  EXPECT_EQ(run_predict(o, scene.progress).kept, 0);
  const std::string first = Scene::bytes_of(o.output);
  EXPECT_EQ(run_predict(o, scene.progress).kept, 7);
  EXPECT_TRUE(Scene::bytes_of(o.output) == first);
  fs::rename(scene.image(1), scene.data() / "images/another.png");
  EXPECT_EQ(run_predict(o, scene.progress).kept, 7) << "it is known by what it holds";
  EXPECT_THAT(Scene::bytes_of(o.output), HasSubstr("another.png"));
  write_rgb(scene.image(3), Tensor(DType::kU8, {64, 48, 3}));
  fs::copy_file(scene.image(2), scene.data() / "images/copy.png");
  EXPECT_EQ(run_predict(o, scene.progress).kept, 7) << "six, and the copy";
  EXPECT_EQ(count_lines(scene.parts()), 7) << "what was replaced is gone, and two images have one content";
  PredictOptions likely = o;
  likely.task.of<DetectionPrediction>().min_score = 0.5;
  EXPECT_EQ(run_predict(likely, scene.progress).kept, 0) << "other options";
  fs::remove(scene.parts());
  EXPECT_EQ(run_predict(likely, scene.progress).kept, 0) << "without the file all is predicted anew";
}

TEST(KeptPredict, AStopListsNothingThatItDidNotReach) {
  KeptObjects scene("kept_stop");
  run_predict(scene.predict(), scene.progress);
  StoppingProgress stops(1, false, "predict");
  const PredictReport report = run_predict(scene.predict(), stops);
  EXPECT_TRUE(report.interrupted);
  ASSERT_EQ(report.cases.size(), 1u);
  EXPECT_EQ(report.not_reached.size(), 6u);
  for (const auto& object : read_json(scene.path("found.incomplete.json")))
    EXPECT_EQ(object.at("file_name"), report.cases[0].id);
  EXPECT_EQ(run_predict(scene.predict(), scene.progress).kept, 7) << "a stop loses none";
}

TEST(KeptPredict, ADamagedFileCostsWhatItsLineHeld) {
  KeptObjects scene("kept_damaged");
  const PredictOptions o = scene.predict();
  run_predict(o, scene.progress);
  const std::string whole = Scene::bytes_of(o.output);
  std::string bytes = Scene::bytes_of(scene.parts());
  const std::size_t digit = bytes.find("0.", bytes.find("\"found\":[[", bytes.find('\n'))) + 2;
  bytes[digit] = bytes[digit] == '9' ? '8' : '9';
  std::ofstream(scene.parts(), std::ios::binary) << bytes << "{\"part\":\"tor";
  EXPECT_EQ(run_predict(o, scene.progress).kept, 6);
  EXPECT_TRUE(Scene::bytes_of(o.output) == whole);
  EXPECT_THAT(scene.progress.lines, Contains(HasSubstr("it is set aside as found.parts.damaged.jsonl")));
  EXPECT_EQ(count_lines(scene.parts()), 7);
  EXPECT_TRUE(fs::exists(scene.path("found.parts.damaged.jsonl")));
}

TEST(KeptPredict, AnInputAloneIsPredictedEachTime) {
  KeptObjects scene("kept_one");
  PredictOptions o = scene.predict();
  o.input = scene.image(0);
  for (int call = 0; call < 2; ++call) EXPECT_EQ(run_predict(o, scene.progress).kept, 0);
  EXPECT_FALSE(fs::exists(scene.parts()));
}

TEST(KeptPredict, OverRanksItGoesOnToTheBytesOfOneProcess) {
  KeptObjects scene("kept_ranks");
  PredictOptions whole = scene.predict("whole.json"), o = scene.predict();
  whole.partition = o.partition = Dims{1, 2, 3, 1};
  run_predict(whole, scene.progress);
  kill_after(3, o);
  test::Mailbox mailbox(2);
  test::run_valid_ranks(mailbox, [&](Transport& transport) {
    NoProgress quiet;
    const PredictReport report = run_predict(o, {quiet, {.transport = &transport}});
    EXPECT_EQ(report.kept, transport.rank() == 0 ? 3 : 0);
  });
  EXPECT_TRUE(Scene::bytes_of(o.output) == Scene::bytes_of(whole.output));
  EXPECT_EQ(count_lines(scene.parts()), 7) << "rank 0 alone writes";
}

/// A classifier, and images of two sizes: six that are predicted at once, and one.
struct KeptClasses : ClassScene {
  explicit KeptClasses(const std::string& name) : ClassScene(name) {
    dark_and_bright("data/train", 4), dark_and_bright("data/test", 3, 9);
    image("data/test/dark/wide.png", {.width = 40, .height = 9}, {30});
    TrainOptions o = toy("run");
    o.steps = 10;
    run_train(o, progress);
  }
  PredictOptions predict(const std::string& output = "found.json") const {
    return {.run = path("run"), .input = data(), .output = path(output), .models = test::with_toys()};
  }
};

TEST(KeptPredict, ClassesOfAKilledCallAreKeptToTheSameBytes) {
  KeptClasses scene("kept_classes");
  run_predict(scene.predict("whole.json"), scene.progress);
  kill_after(1, scene.predict());
  EXPECT_EQ(run_predict(scene.predict(), scene.progress).kept, 6) << "a batch is kept as a whole";
  for (const char* ending : {".json", ".csv"})
    EXPECT_TRUE(Scene::bytes_of(scene.path(std::string("found") + ending)) ==
                Scene::bytes_of(scene.path(std::string("whole") + ending)))
        << ending;
  scene.image("data/test/dark/1.png", {.width = 9, .height = 9}, {90});
  EXPECT_EQ(run_predict(scene.predict(), scene.progress).kept, 1)
      << "of a batch with something new all are predicted, each in the place that it has without an interruption";
  run_predict(scene.predict("again.json"), scene.progress);
  EXPECT_TRUE(Scene::bytes_of(scene.path("found.json")) == Scene::bytes_of(scene.path("again.json")));
}

}  // namespace
}  // namespace voxshard
