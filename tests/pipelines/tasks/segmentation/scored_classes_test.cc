// Regions and annotated classes in `evaluate`: which classes are scored in which case, and over how many cases means
// are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"
#include "tests/expect_error.h"
#include "tests/pipelines/pipeline_scene.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Two cases; class 2 is predicted as class 1 in case 0, case 1 is right.
struct ScoredScene : Scene {
  explicit ScoredScene(const std::string& name) : Scene(name) {
    write_dataset(2);
    std::filesystem::create_directories(path("pred"));
    Volume merged = make_label();
    for (std::int64_t k = 0; k < merged.voxels.count(); ++k)
      if (auto& v = merged.voxels.as<std::int32_t>()[k]; v == 2) v = 1;
    write_volume(path("pred/case_0.nii.gz"), merged, DiskType::kU8);
    write_volume(path("pred/case_1.nii.gz"), make_label(), DiskType::kU8);
    options = {.predictions = path("pred"), .references = data() / "labelsTr"};
  }
  void annotate(const nlohmann::json& annotated) {
    edit_dataset([&](nlohmann::json& json) { json["annotated"] = annotated; });
    options.dataset = data();
  }
  EvaluateLabelsOptions options;
};

TEST(Regions, AUnionIsScoredByEveryMetricBesideTheClasses) {
  ScoredScene scene("region_union");
  scene.options.metric_keys = {"dice", "iou", "hd", "nsd", "vd"};
  const LabelScores plain = evaluate_labels(scene.options, scene.progress);
  scene.options.regions = regions_from_text("both=1,2");
  const LabelScores report = evaluate_labels(scene.options, scene.progress);
  ASSERT_EQ(report.classes.size(), 3u);
  EXPECT_EQ(report.means, plain.means) << "a region is in no mean over the classes";
  EXPECT_LT(report.classes[0].means[0], 1);
  EXPECT_THAT(report.classes[2].means, ElementsAre(1, 1, 0, 1, 0)) << "the union is right in both cases";
  const auto json = to_json(report);
  EXPECT_EQ(json.at("classes").at(2).at("labels"), (std::vector<int>{1, 2}));
  EXPECT_EQ(json.at("classes").at(2).at("name"), "both");
  EXPECT_EQ(json.at("cases").at(0).at("dice").size(), 3u);
  EXPECT_THAT(to_text(report), HasSubstr("both (1, 2)"));
}

TEST(Regions, WordsThatAreNoRegionsAreRefused) {
  for (const char* text :
       {"", "1,2", "tumour", "=1", "a=", "a=0", "a=x", "a=1,1", "a=1;a=2", "a=;b=1", "a=70000", "a\x1b=1"})
    expect_error(ErrorKind::kUsage, "expected NAME=LABEL,LABEL", [&] { regions_from_text(text); });
  const auto regions = regions_from_text("whole=1,2,3,core=2;rim=1");
  ASSERT_EQ(regions.size(), 3u);
  EXPECT_EQ(regions[1].name, "core");
  EXPECT_THAT(regions[0].labels, ElementsAre(1, 2, 3));
  ScoredScene scene("region_label");
  scene.annotate(nlohmann::json::object());
  scene.options.regions = regions_from_text("a=1,3");
  expect_error(ErrorKind::kUsage, "the label 3, which the data set does not have",
               [&] { evaluate_labels(scene.options, scene.progress); });
}

TEST(AnnotatedScores, AClassThatNobodyContouredHasNoScoreInThatCase) {
  ScoredScene scene("annotated");
  scene.annotate({{"case_0", {"one"}}});
  scene.options.metric_keys = {"dice", "hd95"};
  scene.options.empty = find_empty_rule("one");
  scene.options.regions = regions_from_text("both=1,2");
  scene.options.summary = scene.path("summary.json");
  const LabelScores report = evaluate_labels(scene.options, scene.progress);
  EXPECT_TRUE(report.partly_annotated);
  EXPECT_EQ(report.classes[0].annotated, 2u);
  EXPECT_EQ(report.classes[1].annotated, 1u);
  EXPECT_EQ(report.classes[1].means[0], 1) << "case 1 alone";
  EXPECT_EQ(report.classes[1].all_means[0], 0.5) << "as if it were known of case 0, where it was not found";
  EXPECT_EQ(report.classes[0].all_means, report.classes[0].means);
  EXPECT_LT(report.all_means[0], report.means[0]);
  EXPECT_EQ(report.classes[2].annotated, 1u) << "a region needs all its classes";
  EXPECT_TRUE(std::isnan(report.cases[0].scores.classes.at(2).scores.at("Dice")));
  const auto json = to_json(report);
  EXPECT_EQ(json.at("classes").at(1).at("annotated"), 1);
  EXPECT_EQ(json.at("classes").at(1).at("n").at("dice"), 1);
  EXPECT_EQ(json.at("classes").at(1).at("all_cases").at("dice"), 0.5);
  EXPECT_EQ(json.at("all_cases").at("mean_dice"), report.all_means[0]);
  EXPECT_TRUE(json.at("cases").at(0).at("dice").at(1).is_null());
  EXPECT_THAT(json.at("rule").get<std::string>(), HasSubstr("not annotated"));
  EXPECT_THAT(to_text(report), HasSubstr("1.000 (1)"));
  EXPECT_THAT(to_text(report), HasSubstr("mean, all cases"));
  const std::string summary = Scene::bytes_of(scene.options.summary);
  EXPECT_THAT(summary, HasSubstr("\"n_ref\": NaN")) << "nothing is known of it";
}

TEST(AnnotatedScores, WithoutTheKeyNothingChanges) {
  ScoredScene scene("annotated_not");
  const std::string without = to_json(evaluate_labels(scene.options, scene.progress)).dump();
  scene.annotate({{"case_0", {"two", "one"}}});
  const auto report = evaluate_labels(scene.options, scene.progress);
  EXPECT_FALSE(report.partly_annotated);
  EXPECT_EQ(to_json(report).at("cases").dump(), nlohmann::ordered_json::parse(without).at("cases").dump());
}

TEST(AnnotatedScores, ThresholdsAreFittedOnTheCasesThatWereLookedAt) {
  Tensor hu(DType::kF32, {1, 1, 4}), label(DType::kI32, {1, 1, 4}), none(DType::kI32, {1, 1, 4});
  for (int i = 0; i < 4; ++i) hu.as<float>()[i] = static_cast<float>(i), label.as<std::int32_t>()[i] = i == 2;
  ThresholdFit counted(2), fit(2);
  counted.add(hu, label), counted.add(hu, none);
  fit.add(hu, label), fit.add(hu, none, std::vector<int>{});
  EXPECT_NEAR(counted.solve()[1].fit_dice, 2.0 / 3, 1e-12);
  EXPECT_EQ(fit.solve()[1].fit_dice, 1);
  EXPECT_EQ(fit.solve()[1].low_hu, 2);
}

TEST(EvaluateLabels, TwoFilesOfOneNameCostTheirCase) {
  ScoredScene scene("doubled");
  write_volume(scene.path("pred/case_0.nii"), Scene::make_label(), DiskType::kU8);
  const LabelScores report = evaluate_labels(scene.options, scene.progress);
  EXPECT_EQ(report.cases.size(), 1u);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].code, "E_DUPLICATE");
  EXPECT_THAT(report.failures[0].message, HasSubstr("case_0.nii and case_0.nii.gz"));
}

TEST(EvaluateLabels, ThePlanHoldsTheScoresOfAllCasesAndTheVolumesOfThoseInFlight) {
  ScoredScene scene("scores_plan");
  const ProcessPlan few = evaluate_labels(scene.options, scene.progress).memory;
  EXPECT_EQ(few[MemoryPart::kResults], 0);
  for (int i = 0; i < 3000; ++i) scene.options.regions.push_back({"region " + std::to_string(i), {1, 2}});
  const LabelScores report = evaluate_labels(scene.options, scene.progress);
  EXPECT_GT(report.memory[MemoryPart::kResults], 3000 * 2 * 500);
  EXPECT_EQ(report.memory[MemoryPart::kMetrics], few[MemoryPart::kMetrics]);
  scene.options.formats.limits.memory_bytes = 1 << 20;
  expect_error(ErrorKind::kBudget, "the scores of all cases", [&] { evaluate_labels(scene.options, scene.progress); });
}

TEST(EvaluateLabels, ALabelBeyondAllClassesCostsItsCase) {
  ScoredScene scene("label_beyond");
  Volume wrong = Scene::make_label();
  wrong.voxels.as<std::int32_t>()[3] = 2'000'000'000;
  write_volume(scene.label(0), wrong, DiskType::kI32);
  const LabelScores report = evaluate_labels(scene.options, scene.progress);
  EXPECT_EQ(report.classes.size(), 2u);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].code, "E_LABELS");
}

}  // namespace
}  // namespace voxshard
