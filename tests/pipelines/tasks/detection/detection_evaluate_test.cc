// `evaluate` on detections: COCO's numbers from files to files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "pipelines/tasks/detection/scores/evaluate_detections.h"
#include "tests/pipelines/tasks/detection/detection_scene.h"

namespace voxshard {
namespace {

/// Two images with one cell and one nucleus each; the results find both cells and one nucleus.
struct EvaluateScene : DetectionScene {
  explicit EvaluateScene(const std::string& name) : DetectionScene("evaluate_" + name) {
    for (const int id : {1, 2})
      add_image(id, 200, 200,
                {{.category = 0, .box = {10, 10, 40, 40}, .area = 1600},
                 {.category = 1, .box = {100, 100, 50, 50}, .area = 2500}});
    options.references = write("truth.json");
    options.predictions = path("found.json");
    options.summary = path("out/summary.json");
    options.curves = path("out/curves.csv");
    write_text("found.json", R"([{"image_id": 1, "category_id": 3, "bbox": [10, 10, 40, 40], "score": 0.9},
                                 {"image_id": 2, "category_id": 3, "bbox": [10, 10, 40, 40], "score": 0.8},
                                 {"image_id": 2, "category_id": 8, "bbox": [100, 100, 50, 50], "score": 0.7}])");
  }
  EvaluateDetectionOptions options;
};

TEST(EvaluateDetection, TheMeanIsOverTheClasses) {
  EvaluateScene scene("mean");
  const DetectionReport r = evaluate_detections(scene.options, scene.progress);
  ASSERT_EQ(r.classes.size(), 2u);
  EXPECT_NEAR(r.classes[0].summary[0], 1, 1e-9);
  EXPECT_NEAR(r.classes[1].summary[0], 51.0 / 101, 1e-9);
  EXPECT_NEAR(r.summary[0], (1 + 51.0 / 101) / 2, 1e-9);
  EXPECT_EQ(r.classes[1].boxes, 2);
  EXPECT_EQ(r.images, 2);
  EXPECT_EQ(r.boxes, 4);
  EXPECT_EQ(r.detections, 3);
  EXPECT_TRUE(r.failures.empty());
  const auto summary = read_json(scene.options.summary);
  for (const char* name : coco_names()) EXPECT_TRUE(summary.contains(name)) << name;
  EXPECT_NEAR(summary["AP50"].get<double>(), (1 + 51.0 / 101) / 2, 1e-9);
  EXPECT_EQ(summary["AP_large"], -1);
  EXPECT_EQ(summary["classes"][1]["name"], "nucleus");
}

TEST(EvaluateDetection, ACurveHasEveryClassThresholdAndRecallPoint) {
  EvaluateScene scene("curve");
  evaluate_detections(scene.options, scene.progress);
  const std::string csv = Scene::bytes_of(scene.options.curves);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 2 * 10 * 101);
  EXPECT_THAT(csv, testing::StartsWith("class,iou,recall,precision\ncell,0.5,0,"));
  EXPECT_THAT(csv, testing::HasSubstr("\nnucleus,0.95,0.51,0\n"));
}

TEST(EvaluateDetection, FrocIsGivenWhereItIsAskedFor) {
  EvaluateScene scene("froc");
  EXPECT_FALSE(evaluate_detections(scene.options, scene.progress).froc);
  scene.options.metric_keys = {"froc"};
  scene.options.froc_curves = scene.path("out/froc.csv");
  EXPECT_THROW(evaluate_detections(scene.options, scene.progress), Error) << "curves of coco without coco";
  scene.options.curves.clear();
  const DetectionReport r = evaluate_detections(scene.options, scene.progress);
  ASSERT_TRUE(r.froc);
  EXPECT_EQ(r.froc->all.objects, 4);
  EXPECT_DOUBLE_EQ(r.froc->all.cpm(), 0.75);
  EXPECT_DOUBLE_EQ(r.froc->mean_class_cpm(), 0.75) << "1 and 1/2";
  const auto json = to_json(r);
  EXPECT_FALSE(json.contains("AP"));
  EXPECT_EQ(json.at("froc").at("sensitivity").at("0.125"), 0.75);
  EXPECT_EQ(json.at("froc").at("classes").at(1).at("CPM"), 0.5);
  EXPECT_EQ(nlohmann::json(json), read_json(scene.options.summary));
  EXPECT_EQ(Scene::bytes_of(scene.options.froc_curves),
            "class,score,false_positives_per_image,sensitivity\n,0.9,0,0.25\n,0.8,0,0.5\n,0.7,0,0.75\n"
            "cell,0.9,0,0.5\ncell,0.8,0,1\nnucleus,0.7,0,0.5\n");
  EXPECT_NO_THROW(evaluate_detections(scene.options, scene.progress)) << "its own files are replaced";
}

TEST(EvaluateDetection, MetricsThatThereAreNotAreRefused) {
  EvaluateScene scene("metrics");
  for (const std::vector<std::string>& keys :
       {std::vector<std::string>{"dice"}, {"coco", "coco"}, {"coco", ""}, {"froc", "AP"}}) {
    scene.options.metric_keys = keys;
    try {
      evaluate_detections(scene.options, scene.progress);
      ADD_FAILURE() << keys.back();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_THAT(error.what(), testing::HasSubstr("expected some of coco,froc"));
    }
  }
}

TEST(EvaluateDetection, ABadEntryOfEitherFileCostsItselfAndIsNamed) {
  EvaluateScene scene("bad");
  scene.write_text("found.json", R"([{"image_id": 1, "category_id": 3, "bbox": [10, 10, 40, 40], "score": 0.9},
                                     {"image_id": 2, "category_id": 3, "bbox": [10, 10, 40, 40], "score": NaN},
                                     {"image_id": 77, "category_id": 3, "bbox": [10, 10, 40, 40], "score": 1}])");
  const DetectionReport r = evaluate_detections(scene.options, scene.progress);
  EXPECT_EQ(r.detections, 1);
  ASSERT_EQ(r.failures.size(), 2u);
  EXPECT_EQ(r.failures[0].id, "results[1]");
  EXPECT_EQ(r.failures[1].code, "E_IMAGE");
  EXPECT_EQ(scene.progress.lines.size(), 2u);
  EXPECT_NEAR(r.summary[0], 51.0 / 101 / 2, 1e-9);
}

TEST(EvaluateDetection, ThousandsOfBadEntriesAreCountedNotListedInTheLog) {
  EvaluateScene scene("many");
  std::string list = "[1";
  for (int i = 0; i < 2999; ++i) list += ",1";
  scene.write_text("found.json", list + "]");
  EXPECT_EQ(evaluate_detections(scene.options, scene.progress).failures.size(), 3000u);
  EXPECT_EQ(scene.progress.lines.size(), 21u);
  EXPECT_EQ(scene.progress.lines.back(), "... and 2980 more entries left out");
}

TEST(EvaluateDetection, AnUnreadableFileIsAnError) {
  EvaluateScene scene("unreadable");
  scene.write_text("found.json", "{}");
  EXPECT_THROW(evaluate_detections(scene.options, scene.progress), Error);
  std::filesystem::remove(scene.options.references);
  EXPECT_THROW(evaluate_detections(scene.options, scene.progress), Error);
}

}  // namespace
}  // namespace voxshard
