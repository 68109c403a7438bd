// `evaluate`, its threshold baseline, and `info`.
#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "pipelines/commands/run_info.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;

/// Writes predictions equal to the labels, except that half of class 2 is missing in case 0.
EvaluateLabelsOptions write_predictions(Scene& scene, int cases) {
  std::filesystem::create_directories(scene.path("pred"));
  for (int i = 0; i < cases; ++i) {
    Volume label = Scene::make_label();
    if (i == 0)
      for (std::int64_t k = 7 * 120; k < label.voxels.count(); ++k)
        if (label.voxels.as<std::int32_t>()[k] == 2) label.voxels.as<std::int32_t>()[k] = 0;
    write_volume(scene.path("pred") / (Scene::id(i) + ".nii.gz"), label, DiskType::kU8);
  }
  EvaluateLabelsOptions options;
  options.predictions = scene.path("pred"), options.references = scene.data() / "labelsTr";
  return options;
}

TEST(Evaluate, DicePerClassIsTheMeanOverCases) {
  Scene scene("evaluate_dice");
  scene.write_dataset(2);
  EvaluateLabelsOptions options = write_predictions(scene, 2);
  options.summary = scene.path("out/summary.json");
  const LabelScores report = evaluate_labels(options, scene.progress);
  ASSERT_EQ(report.classes.size(), 2u);
  EXPECT_DOUBLE_EQ(report.classes[0].means.at(0), 1);
  EXPECT_NEAR(report.classes[1].means.at(0), (2.0 / 3 + 1) / 2, 1e-12);  // half of it found: 2 x 80 / (2 x 80 + 80)
  EXPECT_NEAR(report.classes[1].means.at(1), 0.75, 1e-12);
  const auto summary = read_json(options.summary);
  EXPECT_NEAR(summary.at("mean").at("2").at("Dice").get<double>(), 5.0 / 6, 1e-12);
  EXPECT_EQ(summary.at("metric_per_case").size(), 2u);
}

TEST(Evaluate, TheDatasetBesideTheReferencesSaysWhichClassesThereAreAndWhichLabelIsIgnored) {
  Scene scene("evaluate_beside");
  scene.write_dataset(2);
  const EvaluateLabelsOptions options = write_predictions(scene, 2);
  Volume label = Scene::make_label();
  label.voxels.as<std::int32_t>()[11] = 3;  // background in the references
  for (int i = 0; i < 2; ++i) write_volume(scene.path("pred") / (Scene::id(i) + ".nii.gz"), label, DiskType::kU8);
  scene.edit_dataset([](nlohmann::json& json) { json["labels"]["three"] = 3; });
  const LabelScores named = evaluate_labels(options, scene.progress);
  ASSERT_EQ(named.classes.size(), 3u);
  EXPECT_EQ(named.classes[2].scored.name, "three");
  EXPECT_EQ(named.classes[2].means.at(0), 0) << "found where it is not";
  scene.edit_dataset([](nlohmann::json& json) { json["labels"].erase("three"), json["labels"]["ignore"] = 3; });
  write_volume(scene.label(0), label, DiskType::kU8);  // nobody annotated that voxel
  const LabelScores ignored = evaluate_labels(options, scene.progress);
  ASSERT_EQ(ignored.classes.size(), 2u);
  EXPECT_EQ(ignored.cases[0].scores.classes.at(1).scores.at("Dice"), 1);
  EvaluateLabelsOptions with_dataset = options;
  with_dataset.dataset = scene.data();
  EXPECT_EQ(to_json(evaluate_labels(with_dataset, scene.progress)).at("mean_dice"), to_json(ignored).at("mean_dice"));
}

TEST(Evaluate, AMissingPredictionIsNamedAndTheOthersAreScored) {
  Scene scene("evaluate_missing");
  scene.write_dataset(3);
  const LabelScores report = evaluate_labels(write_predictions(scene, 2), scene.progress);
  EXPECT_EQ(report.cases.size(), 2u);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].id, "case_2");
  EXPECT_EQ(report.failures[0].code, "E_MISSING");
}

TEST(Evaluate, APredictionOfAnotherShapeIsNamed) {
  Scene scene("evaluate_shape");
  scene.write_dataset(2);
  const EvaluateLabelsOptions options = write_predictions(scene, 2);
  write_volume(scene.path("pred/case_1.nii.gz"), Scene::make_label({6, 6, 6}), DiskType::kU8);
  const LabelScores report = evaluate_labels(options, scene.progress);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].code, "E_SHAPE");
}

TEST(Evaluate, NoPredictionAtAllIsAnError) {
  Scene scene("evaluate_none");
  scene.write_dataset(1);
  try {
    evaluate_labels(write_predictions(scene, 0), scene.progress);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kNoCase);
  }
}

TEST(Evaluate, TheImageAndTheBaselineNeedTheDataset) {
  Scene scene("evaluate_png");
  scene.write_dataset(2);
  EvaluateLabelsOptions options = write_predictions(scene, 2);
  options.threshold_baseline = true;
  EXPECT_THROW(evaluate_labels(options, scene.progress), Error);
  options.dataset = scene.data();
  options.png = scene.path("overlay.png");
  const LabelScores report = evaluate_labels(options, scene.progress);
  EXPECT_TRUE(report.baseline_mean_dice.has_value());
  EXPECT_EQ(report.classes[0].scored.name, "one");
  EXPECT_GT(std::filesystem::file_size(options.png), 100u);
}

TEST(Threshold, FindsTheBestIntervalOfAllByHand) {
  // HU      0 1 2 3 4 5        class 1 at 2, 3, 5: [2, 5] has 3 hits of 4, Dice 6/7; [2, 3] 4/5
  Tensor hu(DType::kF32, {1, 1, 6}), label(DType::kI32, {1, 1, 6});
  for (int i = 0; i < 6; ++i) {
    hu.as<float>()[i] = static_cast<float>(i);
    label.as<std::int32_t>()[i] = i == 2 || i == 3 || i == 5;
  }
  ThresholdFit fit(3);
  fit.add(hu, label);
  const auto best = fit.solve();
  EXPECT_EQ(best[1].low_hu, 2);
  EXPECT_EQ(best[1].high_hu, 5);
  EXPECT_NEAR(best[1].fit_dice, 6.0 / 7, 1e-12);
  EXPECT_GT(best[2].low_hu, best[2].high_hu) << "a class that never occurs has an empty interval";
  const Tensor mask = threshold_mask(hu, best[1], 1);
  EXPECT_EQ(mask.as<std::int32_t>()[4], 1);
  EXPECT_EQ(mask.as<std::int32_t>()[1], 0);
}

TEST(Info, FoldersAndFilesAndWhatIsWrongWithThem) {
  Scene scene("info");
  scene.write_dataset(2);
  std::filesystem::resize_file(scene.image(1), 0);
  const InfoReport report = run_info({scene.image(0), scene.data()});
  const auto json = to_json(report);
  ASSERT_EQ(json.at("files").size(), 1u);
  EXPECT_EQ(json["files"][0].at("orientation"), "LPS");
  ASSERT_EQ(json.at("folders").size(), 1u);
  EXPECT_EQ(json["folders"][0].at("dataset").at("training"), 2);
  EXPECT_EQ(json["folders"][0].at("orientations").at("LPS"), 1);
  EXPECT_EQ(report.failures.size(), 1u);
  EXPECT_THROW(run_info({scene.path("nowhere.nii")}), Error);
}

}  // namespace
}  // namespace voxshard
