// Classes of new images: the same numbers however they are cut or grouped, a bad one is left out alone, a stop is
// reported; several runs are averaged.
#include <gmock/gmock.h>

#include "io/files/config_file.h"
#include "pipelines/commands/run_evaluate.h"
#include "pipelines/commands/run_info.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/classification/predict_classes.h"
#include "pipelines/tasks/classification/scores/class_predictions.h"
#include "tests/pipelines/tasks/classification/class_scene.h"
#include "tests/pipelines/tasks/classification/film_scene.h"
#include "tests/pipelines/tasks/classification/toy_classifier.h"
#include "tests/ranks/mailbox.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

/// A run that distinguishes dark from bright images.
struct TrainedScene : ClassScene {
  explicit TrainedScene(const std::string& name) : ClassScene(name) {
    dark_and_bright("data/train", 4), dark_and_bright("data/test", 3, 9);
    TrainOptions o{.work = data(), .run = path("run"), .steps = 60, .batch = 4, .resources = {.threads = 2}};
    o.spec = usual_spec(test::toy_classifier(2));
    o.spec.precision = DType::kF32, o.optimizer.learning_rate = 0.05;
    run_train(o, progress);
  }
  PredictOptions predict(const std::string& input, const std::string& name = "found.json") const {
    return {.run = path("run"), .input = path(input), .output = path(name), .models = test::with_toys()};
  }
};

TEST(PredictClasses, WhatIsPredictedIsScored) {
  TrainedScene scene("classes_predict");
  const PredictReport report = run_predict(scene.predict("data"), scene.progress);
  EXPECT_EQ(report.cases.size(), 6u) << "of the test part";
  EXPECT_TRUE(report.failures.empty());
  EXPECT_EQ(report.next.at(0), "evaluate");
  const ClassPredictions found = read_class_predictions(scene.path("found.json"));
  EXPECT_EQ(found.rows.at(0).file, "bright/0.png");
  for (const ClassPrediction& row : found.rows) EXPECT_NEAR(row.probabilities[0] + row.probabilities[1], 1, 1e-12);
  EXPECT_THAT(Scene::bytes_of(scene.path("found.csv")), HasSubstr("\nbright/0.png,bright,"));
  EvaluateOptions o{
      .predictions = scene.path("found.json"), .references = scene.data(), .summary = scene.path("scores.json")};
  const TaskReport scores = run_evaluate(o, scene.progress);
  EXPECT_EQ(scores.json.at("accuracy"), 1.0);
  EXPECT_FALSE(scores.partial);
}

TEST(PredictClasses, ItemsInFoldersAreNumberedOrCalledByTheirPaths) {
  TrainedScene scene("classes_recursive");
  PredictOptions o = scene.predict("data/test");
  o.recursive = true;
  const PredictReport report = run_predict(o, scene.progress);
  ClassPredictions found = read_class_predictions(o.output);
  ASSERT_EQ(found.rows.size(), 6u) << "the folders are no classes here";
  for (const ClassPrediction& row : found.rows) EXPECT_TRUE(row.file.starts_with("case_000")) << row.file;
  EXPECT_THAT(Scene::bytes_of(scene.path("found.csv")), testing::Not(HasSubstr("bright/0.png")));
  EXPECT_THAT(Scene::bytes_of(scene.path("found.case_paths.jsonl")), HasSubstr("\"name\":\"bright/0.png\""));
  o.output = scene.path("named.json"), o.task.of<ClassPredictionOptions>().keep_names = true;
  run_predict(o, scene.progress);
  found = read_class_predictions(o.output);
  EXPECT_EQ(found.rows.at(0).file, "bright/0.png");
}

TEST(PredictClasses, ACutAndOtherThreadsPredictTheSame) {
  TrainedScene scene("classes_cut");
  PredictOptions whole = scene.predict("data"), cut = scene.predict("data", "cut.json");
  cut.partition = Dims{1, 3, 2, 1};
  run_predict(whole, {scene.progress, {.threads = 2}}), run_predict(cut, scene.progress);
  const ClassPredictions a = read_class_predictions(whole.output), b = read_class_predictions(cut.output);
  ASSERT_EQ(a.rows.size(), b.rows.size());
  for (std::size_t i = 0; i < a.rows.size(); ++i)
    EXPECT_NEAR(a.rows[i].probabilities[0], b.rows[i].probabilities[0], 1e-6);
}

TEST(PredictClasses, ABadImageCostsItself) {
  TrainedScene scene("classes_bad");
  scene.image("new/a.png", {.width = 7, .height = 5}, {220});
  scene.write("new/b.png", "hello");
  scene.image("new/c.png", {.width = 6, .height = 6, .channels = 3}, {20, 25, 30});
  scene.damaged("new/d.png");
  const PredictReport report = run_predict(scene.predict("new"), scene.progress);
  EXPECT_EQ(report.cases.size(), 2u);
  EXPECT_EQ(report.failures.size(), 2u);
  EXPECT_THAT(Scene::bytes_of(scene.path("found.quarantine.csv")), HasSubstr("b.png,E_READ"));
  EXPECT_THAT(Scene::bytes_of(scene.path("found.csv")), HasSubstr("a.png,bright"));
  EXPECT_THAT(Scene::bytes_of(scene.path("found.csv")), HasSubstr("c.png,dark"))
      << "colour is taken as the grey it was trained on";
  EXPECT_EQ(run_predict(scene.predict("new/a.png", "one.json"), scene.progress).cases.size(), 1u);
}

TEST(PredictClasses, NothingToPredictIsAnError) {
  TrainedScene scene("classes_nothing");
  expect_error(ErrorKind::kInput, "does not exist", [&] { run_predict(scene.predict("nowhere"), scene.progress); });
  scene.write("empty/a.txt", "x");
  expect_error(ErrorKind::kNoCase,
               "classes (but 1 file that is no input (1 .txt)); what is read: voxshard help formats",
               [&] { run_predict(scene.predict("empty"), scene.progress); });
  scene.write("bad/a.png", "x");
  expect_error(ErrorKind::kNoCase, "none of 1 inputs", [&] { run_predict(scene.predict("bad"), scene.progress); });
  expect_error(ErrorKind::kUsage, "JSON file", [&] { run_predict(scene.predict("data", "folder"), scene.progress); });
  scene.write("found.json", R"({"mine": 1})");
  expect_error(ErrorKind::kOutput, "is not predictions of classes",
               [&] { run_predict(scene.predict("data"), scene.progress); });
}

TEST(PredictClasses, AStopLeavesWhatIsWholeAsIncomplete) {
  TrainedScene scene("classes_stop");
  scene.image("data/test/dark/wide.png", {.width = 40, .height = 9}, {30});  // a batch of its own
  struct : RecordingProgress {
    void update(std::string_view stage, std::int64_t done, std::int64_t, std::string_view) override {
      stop |= stage == "predict" && done > 0;
    }
  } stopping;
  const PredictReport report = run_predict(scene.predict("data"), stopping);
  EXPECT_TRUE(report.interrupted);
  EXPECT_THAT(report.not_reached, testing::ElementsAre("dark/wide.png"));
  EXPECT_FALSE(std::filesystem::exists(scene.path("found.json")));
  EXPECT_EQ(read_class_predictions(scene.path("found.incomplete.json")).rows.size(), 6u);
  run_predict(scene.predict("data"), scene.progress);
  EXPECT_FALSE(std::filesystem::exists(scene.path("found.incomplete.json")));
}

TEST(ClassDemo, IsAnIdxSetThatInfoKnows) {
  ClassScene scene("classes_demo");
  const DemoOptions demo{.folder = scene.data(), .task = "classification", .cases = 30, .test_cases = 10, .threads = 2};
  EXPECT_EQ(run_demo(demo, scene.progress).points, 40 * 28 * 28);
  const std::string images = Scene::bytes_of(scene.data() / "train-images-idx3-ubyte");
  EXPECT_EQ(images.size(), 16u + 30 * 28 * 28);
  const InfoReport report = run_info({scene.data()}, {}, task_table());
  const auto json = to_json(report);
  ASSERT_EQ(json.at("class_sets").size(), 1u);
  EXPECT_EQ(json.at("class_sets")[0].at("parts").size(), 2u);
  EXPECT_EQ(json.at("class_sets")[0].at("parts")[0].at("items"), 30);
  EXPECT_THAT(to_text(report), HasSubstr("train (IDX): 30 pictures of 10 classes, 28x28 to 28x28 pixels"));
  EXPECT_THAT(report.next, testing::ElementsAre("train", scene.data().string(), "{output}", "run", "{model}", "digits",
                                                "{batch}", "64"));
  run_demo(demo, scene.progress);
  EXPECT_TRUE(Scene::bytes_of(scene.data() / "train-images-idx3-ubyte") == images) << "the same seed, the same bytes";
}

TEST(ClassInfo, FoldersOfClassesAreTold) {
  ClassScene scene("classes_info");
  scene.dark_and_bright("data/train", 3), scene.dark_and_bright("data/val", 1, 12);
  scene.write("data/train/dark/text.png", "hello");
  const InfoReport report = run_info({scene.data()}, {}, task_table());
  EXPECT_THAT(to_text(report), HasSubstr("val (folders): 2 pictures of 2 classes, 12x12 to 12x12 pixels, 0 in colour"));
  EXPECT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.next.at(0), "train");
}

/// Runs that see pictures in two sizes.
struct AverageClasses : ClassScene {
  explicit AverageClasses(const std::string& name) : ClassScene(name) {
    dark_and_bright("data/train", 4), dark_and_bright("data/test", 3, 9);
    for (const std::string run : {"a", "b"}) {
      TrainOptions o = toy(run);
      o.steps = run == "a" ? 10 : 20;
      if (run == "b") o.task.of<ClassTaskOptions>().size = Dims{12, 12}, o.task.of<ClassTaskOptions>().fit = "resize";
      run_train(o, progress);
    }
  }
  PredictOptions predict(const std::vector<std::string>& runs, const std::string& output) const {
    PredictOptions o{
        .run = path(runs.front()), .input = path("data"), .output = path(output), .models = test::with_toys()};
    for (std::size_t i = 1; i < runs.size(); ++i) o.further_runs.push_back(path(runs[i]));
    return o;
  }
};

TEST(AveragePredict, ClassesHaveTheMeanOfTheProbabilities) {
  AverageClasses scene("average_classes");
  for (const std::string run : {"a", "b"}) run_predict(scene.predict({run}, run + ".json"), scene.progress);
  run_predict(scene.predict({"a", "b"}, "ab.json"), scene.progress);
  run_predict(scene.predict({"b", "a", "b"}, "bab.json"), scene.progress);
  const auto rows = [&](const std::string& file) { return read_class_predictions(scene.path(file)).rows; };
  const auto a = rows("a.json"), b = rows("b.json"), ab = rows("ab.json"), bab = rows("bab.json");
  ASSERT_EQ(ab.size(), 6u);
  double apart = 0;
  for (std::size_t i = 0; i < ab.size(); ++i)
    for (std::size_t c = 0; c < 2; ++c) {
      const double of_a = a[i].probabilities[c], of_b = b[i].probabilities[c];
      EXPECT_NEAR(ab[i].probabilities[c], (of_a + of_b) / 2, 1e-15);
      EXPECT_NEAR(bab[i].probabilities[c], (of_a + 2 * of_b) / 3, 1e-15);
      apart = std::max(apart, std::abs(of_a - of_b));
    }
  EXPECT_GT(apart, 1e-3) << "the runs differ";
  const auto json = read_json(scene.path("bab.json"));
  ASSERT_EQ(json.at("averaged").size(), 2u);
  EXPECT_EQ(json.at("averaged").at(0).at("times").get<int>() + json.at("averaged").at(1).at("times").get<int>(), 3);
  EXPECT_FALSE(read_json(scene.path("a.json")).contains("averaged"));
}

TEST(AveragePredict, ClassesDoNotDependOnOrderOrRanks) {
  AverageClasses scene("average_class_ranks");
  PredictOptions o = scene.predict({"a", "b"}, "ab.json");
  o.partition = Dims{1, 2, 1, 1};
  run_predict(o, scene.progress);
  PredictOptions other = scene.predict({"b", "a"}, "ba.json");
  other.partition = o.partition;
  test::Mailbox mailbox(2);
  test::run_valid_ranks(mailbox, [&](Transport& transport) {
    NoProgress quiet;
    run_predict(other, {quiet, {.threads = 2, .transport = &transport}});
  });
  EXPECT_EQ(Scene::bytes_of(scene.path("ab.json")), Scene::bytes_of(scene.path("ba.json")));
  EXPECT_EQ(Scene::bytes_of(scene.path("ab.csv")), Scene::bytes_of(scene.path("ba.csv")));
}

TEST(AveragePredict, APictureThatCannotBeReadCostsItself) {
  AverageClasses scene("average_class_bad");
  scene.damaged("in/bad.png", 9), scene.image("in/good.png", {.width = 9, .height = 9}, {200});
  PredictOptions o = scene.predict({"a", "b"}, "found.json");
  o.input = scene.path("in");
  const PredictReport report = run_predict(o, scene.progress);
  ASSERT_EQ(report.cases.size(), 1u);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].id, "bad.png");
}

class AverageClips : public TrainedFilms {};

TEST_F(AverageClips, TimeLinesHaveTheMeanOfTheProbabilities) {
  const std::filesystem::path other = scene_.path("other");
  {
    TrainOptions o = trained_->training("other_run");
    o.run = other, o.steps = 3;
    run_train(o, scene_.progress);
  }
  const auto film = scene_.film("mixed.mkv", {{21, kDark}, {20, kBright}});
  const auto lines = [&](const std::vector<std::filesystem::path>& runs, const std::string& output) {
    PredictOptions o = options(film);
    o.run = runs.front(), o.output = scene_.path(output);
    o.further_runs.assign(runs.begin() + 1, runs.end());
    predict(o);
    return read_class_predictions(o.output).rows.at(0).time_line.windows;
  };
  const std::filesystem::path first = options(film).run;
  const auto a = lines({first}, "a.json"), b = lines({other}, "b.json"), ab = lines({first, other}, "ab.json");
  const auto ba = lines({other, first}, "ba.json");
  ASSERT_EQ(ab.size(), a.size());
  double apart = 0;
  for (std::size_t w = 0; w < ab.size(); ++w)
    for (std::size_t c = 0; c < 2; ++c) {
      const double of_a = a[w].probabilities[c], of_b = b[w].probabilities[c];
      EXPECT_NEAR(ab[w].probabilities[c], (of_a + of_b) / 2, 1e-6) << "as text";
      apart = std::max(apart, std::abs(of_a - of_b));
    }
  EXPECT_GT(apart, 1e-3);
  EXPECT_EQ(Scene::bytes_of(scene_.path("ab.json")), Scene::bytes_of(scene_.path("ba.json")));
}

}  // namespace
}  // namespace voxshard
