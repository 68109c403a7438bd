// Predictions of classes as files, and their scores.
#include "pipelines/tasks/classification/scores/class_predictions.h"

#include <gmock/gmock.h>

#include "pipelines/tasks/classification/scores/evaluate_classes.h"
#include "tests/pipelines/tasks/classification/class_scene.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Four images of two classes; three of them are predicted correctly.
struct PredictionScene : ClassScene {
  PredictionScene() : ClassScene("class_predictions") {
    dark_and_bright("data/test", 2);
    dark_and_bright("data/train", 1);
  }
  ClassPredictions predictions() const {
    return {.classes = {"bright", "dark"},
            .rows = {{"bright/0.png", {0.9, 0.1}},
                     {"bright/1.png", {0.4, 0.6}},
                     {"dark/0.png", {0.25, 0.75}},
                     {"dark/1.png", {0.5, 0.5}}}};
  }
  std::filesystem::path found() const { return path("found.json"); }
  ClassReport evaluate(const std::string& png = "") {
    return evaluate_classes({.predictions = found(),
                             .references = data(),
                             .summary = path("scores.json"),
                             .png = png.empty() ? "" : path(png)},
                            progress);
  }
};

TEST(ClassPredictions, WhatIsWrittenIsRead) {
  const PredictionScene scene;
  const ClassPredictions written = scene.predictions();
  write_class_predictions(scene.found(), written);
  const ClassPredictions read = read_class_predictions(scene.found());
  EXPECT_EQ(read.classes, written.classes);
  ASSERT_EQ(read.rows.size(), 4u);
  EXPECT_EQ(read.rows[1].file, "bright/1.png");
  EXPECT_EQ(read.rows[1].probabilities, written.rows[1].probabilities);
  EXPECT_TRUE(class_predictions_file().is_ours(scene.found()));
  write_class_table(scene.path("found.csv"), written);
  EXPECT_THAT(Scene::bytes_of(scene.path("found.csv")),
              HasSubstr("file,class,probability,p(bright),p(dark)\nbright/0.png,bright,0.9,0.9,0.1\nbright/"
                        "1.png,dark,0.6,0.4,0.6\n"));
}

TEST(ClassPredictions, ForeignJsonIsRefused) {
  const PredictionScene scene;
  for (const char* text :
       {"[]", "{}", R"({"task": "segmentation"})",
        R"({"task": "classification", "classes": ["a"], "items": "pictures", "predictions": []})",
        R"({"task": "classification", "classes": ["a", "a"], "items": "pictures", "predictions": []})",
        R"({"task": "classification", "classes": ["a", "b"], "items": "pictures", "predictions": 3})"}) {
    scene.write("found.json", text);
    expect_error(ErrorKind::kInput, "give what voxshard predict wrote", [&] { read_class_predictions(scene.found()); });
  }
}

TEST(ClassPredictions, MoreClassesThanAreCountedInPairsAreRefused) {
  const PredictionScene scene;
  nlohmann::json json = {{"task", "classification"}, {"items", "pictures"}, {"predictions", nlohmann::json::array()}};
  for (std::size_t c = 0; c < kMostClasses; ++c) json["classes"].push_back(std::to_string(c));
  scene.write("found.json", json.dump());
  EXPECT_EQ(read_class_predictions(scene.found()).classes.size(), kMostClasses);
  json["classes"].push_back("one more");
  scene.write("found.json", json.dump());
  expect_error(ErrorKind::kInput, "names 4097 classes", [&] { read_class_predictions(scene.found()); });
}

/// Returns predictions of clips of two videos, the second cut short.
std::string clips_json(const std::string& clip_length) {
  const std::string video = R"(.mp4","seconds":0.48,"windows":[
      {"frames":[0,8],"seconds":[0.0,0.32],"probabilities":[0.75,0.25]}],"intervals":[],"probabilities":[0.75,0.25],)";
  return R"({"task":"classification","classes":["a","b"],"items":"clips","clip_stride":1,"clip_length":)" +
         clip_length + R"(,"predictions":[{"file":"a)" + video + R"("complete":true},{"file":"b)" + video +
         R"("complete":false}]})";
}

TEST(ClassPredictions, AVideoThatIsNotCompleteIsAFailure) {
  const PredictionScene scene;
  scene.write("found.json", clips_json("8"));
  const ClassPredictions read = read_class_predictions(scene.found());
  ASSERT_EQ(read.rows.size(), 1u);
  EXPECT_EQ(read.rows[0].file, "a.mp4");
  ASSERT_EQ(read.failures.size(), 1u);
  EXPECT_EQ(read.failures[0].id, "b.mp4");
  EXPECT_EQ(read.failures[0].code, "E_STOPPED");
}

TEST(ClassPredictions, ALengthThatIsNoWholeNumberIsRefused) {
  const PredictionScene scene;
  for (const char* length : {"1e300", "-1e300", "8.5", "0", "18446744073709551615", "\"8\""}) {
    scene.write("found.json", clips_json(length));
    expect_error(ErrorKind::kInput, "give what voxshard predict wrote", [&] { read_class_predictions(scene.found()); });
  }
}

TEST(ClassPredictions, ABrokenEntryCostsItself) {
  const PredictionScene scene;
  scene.write("found.json", R"({"task": "classification", "classes": ["a", "b"], "items": "pictures", "predictions": [
      {"file": "1.png", "probabilities": [0.5, 0.5]}, {"file": "2.png", "probabilities": [0.5]}, {"file": "3.png", "probabilities": [2, 0]},
      {"file": "4.png", "probabilities": [null, 0]}, {"file": "1.png", "probabilities": [1, 0]}, {"probabilities": [1, 0]}, 7]})");
  const ClassPredictions read = read_class_predictions(scene.found());
  EXPECT_EQ(read.rows.size(), 1u);
  EXPECT_THAT(ClassScene::codes(read.failures),
              ElementsAre("E_SYNTAX", "E_SYNTAX", "E_SYNTAX", "E_DUPLICATE", "E_SYNTAX", "E_SYNTAX"));
}

TEST(EvaluateClasses, ScoresAreThoseCountedByHand) {
  PredictionScene scene;
  write_class_predictions(scene.found(), scene.predictions());
  const ClassReport r = scene.evaluate("confusion.png");
  EXPECT_EQ(r.items, 4) << "of the test part";
  EXPECT_DOUBLE_EQ(r.accuracy, 0.5) << "of equals the first class: dark/1.png is taken for bright";
  EXPECT_DOUBLE_EQ(r.majority_accuracy, 0.5);
  EXPECT_EQ(r.confusion, (std::vector<std::int64_t>{1, 1, 1, 1}));
  EXPECT_DOUBLE_EQ(r.by_class.at(3).at(0), 0.75) << "0.9 and 0.4 against 0.25 and 0.5";
  EXPECT_TRUE(r.failures.empty());
  const nlohmann::json json = read_json(scene.path("scores.json"));
  EXPECT_EQ(json.at("accuracy"), 0.5);
  EXPECT_EQ(json.at("confusion"), nlohmann::json::parse("[[1, 1], [1, 1]]"));
  EXPECT_EQ(json.at("calibration").size(), 15u);
  EXPECT_THAT(to_text(r), HasSubstr("accuracy 0.500, top 5 1.000"));
  EXPECT_EQ(read_rgb(scene.path("confusion.png")).shape()[2], 3);
  static_cast<void>(scene.evaluate("confusion.png"));  // one of its own is replaced
}

TEST(EvaluateClasses, WhatIsMissingOrUnknownIsSaid) {
  PredictionScene scene;
  ClassPredictions found = scene.predictions();
  found.rows[3].file = "elsewhere.png";
  write_class_predictions(scene.found(), found);
  scene.image("data/test/striped/s.png");
  const ClassReport r = scene.evaluate();
  EXPECT_EQ(r.items, 3);
  EXPECT_THAT(ClassScene::codes(r.failures), ElementsAre("E_CLASS", "E_MISSING", "E_MISSING"));
}

TEST(EvaluateClasses, NothingInCommonIsAnError) {
  PredictionScene scene;
  ClassPredictions found = scene.predictions();
  for (ClassPrediction& row : found.rows) row.file = "x/" + row.file;
  write_class_predictions(scene.found(), found);
  expect_error(ErrorKind::kNoCase, "none of the 4 items", [&] { scene.evaluate(); });
}

TEST(EvaluateClasses, AnAbsentClassHasNoNumber) {
  PredictionScene scene;
  std::filesystem::remove_all(scene.data() / "test/dark");
  ClassPredictions found = scene.predictions();
  found.rows.resize(2);
  write_class_predictions(scene.found(), found);
  const ClassReport r = scene.evaluate();
  EXPECT_TRUE(std::isnan(r.by_class.at(3).at(0)));
  EXPECT_TRUE(read_json(scene.path("scores.json")).at("classes").at(1).at("recall").is_null());
}

TEST(EvaluateClasses, AMetricOfATestIsShownWhereverTheOthersAre) {
  PredictionScene scene;
  write_class_predictions(scene.found(), scene.predictions());
  ClassMetrics metrics = class_metrics();
  metrics.push_back({.name = "Jaccard", .key = "jaccard", .unit = "%", .digits = 1, .of = [](const CountedClass& c) {
                       const double hits = c.scores.recall * static_cast<double>(c.scores.items);
                       return 100 * hits / (static_cast<double>(c.scores.items + c.scores.found) - hits);
                     }});
  const ClassReport r =
      evaluate_classes({.predictions = scene.found(), .references = scene.data(), .metrics = metrics}, scene.progress);
  const auto json = to_json(r);
  for (const std::size_t c : {0, 1})
    EXPECT_DOUBLE_EQ(json.at("classes").at(c).at("jaccard"), 100.0 / 3)
        << "one of each is found, of two that are and two that are told";
  EXPECT_DOUBLE_EQ(json.at("mean_jaccard"), 100.0 / 3);
  EXPECT_THAT(to_text(r), HasSubstr("Jaccard (%)"));
}

}  // namespace
}  // namespace voxshard
