// `evaluate` with chosen metrics, conventions and rules of empty classes: two cases that are counted by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pipelines/commands/run_evaluate.h"
#include "pipelines/tasks/segmentation/dataset/case_memory.h"
#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;

/// Case 0: class 1 is one voxel (2 mm) longer along x than its 4 x 10 x 8 voxels of 2 x 2 x 3 mm, and class 2 is
/// missed. Case 1 is right.
EvaluateLabelsOptions two_cases(Scene& scene) {
  scene.write_dataset(2);
  std::filesystem::create_directories(scene.path("pred"));
  Volume label = Scene::make_label();
  write_volume(scene.path("pred/case_1.nii.gz"), label, DiskType::kU8);
  for (std::int64_t k = 0; k < label.voxels.count(); ++k) label.voxels.as<std::int32_t>()[k] = k % 12 < 5 ? 1 : 0;
  write_volume(scene.path("pred/case_0.nii.gz"), label, DiskType::kU8);
  return {.predictions = scene.path("pred"),
          .references = scene.data() / "labelsTr",
          .metric_keys = {"dice", "vd", "rvd", "nsd", "hd", "hd95", "assd"}};
}

const std::map<std::string, double>& scores_of(const LabelScores& report, std::size_t at, int label) {
  return report.cases.at(at).scores.classes.at(label).scores;
}

TEST(EvaluateSurfaces, TheScoresOfACaseByHand) {
  Scene scene("surfaces_by_hand");
  const LabelScores report = evaluate_labels(two_cases(scene), scene.progress);
  // Borders: 224 voxels of the reference, 48 of them 2 mm from the prediction's border; 256 and 80 the other way.
  const auto& longer = scores_of(report, 0, 1);
  EXPECT_DOUBLE_EQ(longer.at("Dice"), 640.0 / 720);
  EXPECT_DOUBLE_EQ(longer.at("VD"), 0.96);
  EXPECT_DOUBLE_EQ(longer.at("RVD"), 0.25);
  EXPECT_DOUBLE_EQ(longer.at("NSD"), 352.0 / 480);
  EXPECT_DOUBLE_EQ(longer.at("HD"), 2);
  EXPECT_DOUBLE_EQ(longer.at("HD95"), 2);
  EXPECT_DOUBLE_EQ(longer.at("ASSD"), 256.0 / 480);
  EXPECT_TRUE(std::isnan(scores_of(report, 0, 2).at("HD")));
  EXPECT_EQ(scores_of(report, 0, 2).at("NSD"), 0);
  EXPECT_EQ(scores_of(report, 1, 2).at("NSD"), 1);
}

TEST(EvaluateSurfaces, MeansSayOverHowManyCasesAndByWhichRules) {
  Scene scene("surfaces_means");
  EvaluateLabelsOptions options = two_cases(scene);
  options.surface.tolerance_mm = 2;
  options.summary = scene.path("summary.json");
  const LabelScores report = evaluate_labels(options, scene.progress);
  const auto json = to_json(report);
  EXPECT_EQ(json.at("empty"), "nan");
  EXPECT_EQ(json.at("surface").at("convention"), "voxels");
  EXPECT_EQ(json.at("surface").at("tolerance_mm"), 2.0);
  EXPECT_THAT(json.at("rule").get<std::string>(), HasSubstr("both empty: null, left out of the mean"));
  const auto& one = json.at("classes").at(0);
  const auto& two = json.at("classes").at(1);
  EXPECT_EQ(one.at("hd95"), 1.0);
  EXPECT_EQ(one.at("nsd"), 1.0);
  EXPECT_EQ(one.at("n").at("hd95"), 2);
  EXPECT_EQ(two.at("hd95"), 0.0);
  EXPECT_EQ(two.at("n").at("hd95"), 1) << "the missed class has no distance";
  EXPECT_EQ(two.at("n").at("dice"), 2);
  EXPECT_EQ(json.at("cases").at(0).at("hd95").dump(), "[2.0,null]");
  EXPECT_THAT(to_text(report), HasSubstr("0.000 (1)"));
  EXPECT_THAT(to_text(report), HasSubstr("HD95 (mm)"));
  EXPECT_THAT(to_text(report), HasSubstr("tolerance 2 mm"));
  EXPECT_THAT(Scene::bytes_of(options.summary), HasSubstr("\"HD95\": 2.0"));
}

TEST(EvaluateSurfaces, AnInfiniteDistanceIsShownAndStaysInTheMean) {
  Scene scene("surfaces_inf");
  EvaluateLabelsOptions options = two_cases(scene);
  options.empty = find_empty_rule("inf");
  options.summary = scene.path("summary.json");
  const LabelScores report = evaluate_labels(options, scene.progress);
  const auto json = to_json(report);
  EXPECT_EQ(json.at("empty"), "inf");
  EXPECT_EQ(json.at("classes").at(1).at("hd95"), "inf");
  EXPECT_EQ(json.at("classes").at(1).at("n").at("hd95"), 2);
  EXPECT_EQ(json.at("cases").at(0).at("assd").dump(), "[0.5333333333333333,\"inf\"]");
  EXPECT_THAT(to_text(report), HasSubstr("inf (2)"));
  EXPECT_THAT(Scene::bytes_of(options.summary), HasSubstr("\"HD95\": Infinity"));
}

TEST(EvaluateSurfaces, AClassInNeitherMapIsRightByTheRuleOne) {
  Scene scene("surfaces_one");
  EvaluateLabelsOptions options = two_cases(scene);
  Volume none = Scene::make_label();
  for (std::int64_t k = 0; k < none.voxels.count(); ++k)
    none.voxels.as<std::int32_t>()[k] = none.voxels.as<std::int32_t>()[k] == 1;
  for (const char* file : {"pred/case_1.nii.gz", "data/labelsTr/case_1.nii.gz"})
    write_volume(scene.path(file), none, DiskType::kU8);
  options.metric_keys = {"dice", "hd95", "nsd"};
  const LabelScores by_nan = evaluate_labels(options, scene.progress);
  EXPECT_TRUE(std::isnan(scores_of(by_nan, 1, 2).at("Dice")));
  options.empty = find_empty_rule("one");
  const LabelScores by_one = evaluate_labels(options, scene.progress);
  EXPECT_EQ(scores_of(by_one, 1, 2).at("Dice"), 1);
  EXPECT_EQ(scores_of(by_one, 1, 2).at("HD95"), 0);
  EXPECT_DOUBLE_EQ(by_one.classes.at(1).means.at(0), 0.5);
  EXPECT_EQ(by_one.classes.at(1).cases, (std::vector<std::size_t>{2, 1, 2}));
}

TEST(EvaluateSurfaces, WithoutAChoiceNothingMoreIsStated) {
  Scene scene("surfaces_default");
  EvaluateLabelsOptions options = two_cases(scene);
  options.metric_keys = {};
  const LabelScores report = evaluate_labels(options, scene.progress);
  const auto json = to_json(report);
  for (const char* key : {"empty", "surface"}) EXPECT_FALSE(json.contains(key)) << key;
  EXPECT_FALSE(json.at("classes").at(0).contains("n"));
  EXPECT_EQ(json.at("classes").at(0).size(), 4u) << "label, name, dice, iou";
  EXPECT_EQ(to_text(report).find("brackets"), std::string::npos);
}

TEST(EvaluateSurfaces, ASettingOfSurfacesWithoutAMetricThatReadsThemIsNamed) {
  for (const bool with_metric : {false, true}) {
    Scene scene("surfaces_unread");
    EvaluateLabelsOptions labels = two_cases(scene);
    labels.metric_keys = {with_metric ? "nsd" : "dice"};
    EvaluateOptions options{.predictions = labels.predictions, .references = labels.references};
    options.task.of<EvaluateLabelsOptions>() = labels;
    options.task.given = {{.name = "tolerance-mm", .tasks = {"segmentation"}}};
    run_evaluate(options, scene.progress);
    EXPECT_EQ(std::ranges::any_of(scene.progress.lines,
                                  [](const std::string& line) {
                                    return line.find("{tolerance-mm} has no effect") != std::string::npos;
                                  }),
              !with_metric);
  }
}

TEST(EvaluateSurfaces, IgnoredVoxelsBelongToNoSurface) {
  Volume truth = Scene::make_label(), mine = Scene::make_label();
  for (std::int64_t k = 0; k < truth.voxels.count(); ++k)
    if (k % 12 >= 6) truth.voxels.as<std::int32_t>()[k] = 3, mine.voxels.as<std::int32_t>()[k] = 1;
  const ScoringRules rules{.metrics = chosen_metrics({"hd", "nsd"}, overlap_metrics())};
  const auto counted = score_classes(mine, truth, {.classes = 3}, rules);
  EXPECT_GT(counted.at(1).scores.at("HD"), 0);
  const auto ignoring = score_classes(mine, truth, {.classes = 3, .ignored = 3}, rules);
  EXPECT_EQ(ignoring.at(1).scores.at("HD"), 0);
  EXPECT_EQ(ignoring.at(1).scores.at("NSD"), 1);
}

TEST(EvaluateSurfaces, ThePlanHoldsTheDistancesAndRefusesWhatDoesNotFit) {
  Scene scene("surfaces_plan");
  scene.write_dataset(1);
  const std::filesystem::path label = scene.label(0);
  VolumeFormats formats = volume_formats();
  const auto without = evaluating_case_plan({.reference = label, .prediction = label}, formats);
  const auto with = evaluating_case_plan({.reference = label, .prediction = label, .surfaces = true}, formats);
  EXPECT_EQ(with[MemoryPart::kMetrics], static_cast<std::int64_t>(2 * 4 * 960 + surface_bytes({8, 10, 12})));
  EXPECT_LT(without.total(), with.total());
  formats.limits.memory_bytes = with.total() - 1;
  EXPECT_NO_THROW(evaluating_case_plan({.reference = label, .prediction = label}, formats));
  try {
    evaluating_case_plan({.reference = label, .prediction = label, .surfaces = true}, formats);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.code(), "E_BUDGET");
  }
}

}  // namespace
}  // namespace voxshard
