// nnU-Net's ignore label: no class, not trained, not scored.
#include <nlohmann/json.hpp>

#include "io/files/config_file.h"
#include "pipelines/tasks/segmentation/samples/sample_source.h"
#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

/// Two cases whose class 2 is called ignore.
struct IgnoreScene : Scene {
  explicit IgnoreScene(const std::string& name) : Scene(name) {
    write_dataset(2);
    nlohmann::json json = read_json(data() / "dataset.json");
    json["labels"] = {{"background", 0}, {"one", 1}, {"ignore", 2}};
    std::ofstream(data() / "dataset.json") << json.dump();
  }
};

TEST(IgnoreLabel, ReachesTheLossAsTheLabelThatItIgnores) {
  IgnoreScene scene("ignore_source");
  prepare_dataset({.dataset = scene.data(), .work = scene.work(), .spacing = "keep"}, scene.progress);
  const SampleSource source(read_prepared(scene.work()), {0}, {.crop = {8, 10, 12}, .intensity_scale = 0, .noise = 0});
  Tensor labels(DType::kI32, {1, 8, 10, 12, 1});
  source.fill(source.batch(0, 1), input::Labels{.classes = 2, .ignored = -7}, labels.view());
  const Volume truth = Scene::make_label();
  for (std::int64_t i = 0; i < labels.count(); ++i) {
    const std::int32_t wanted = truth.voxels.as<std::int32_t>()[i];
    ASSERT_EQ(labels.as<std::int32_t>()[i], wanted == 2 ? -7 : wanted);
  }
}

TEST(IgnoreLabel, CountsNowhereInScores) {
  IgnoreScene scene("ignore_scores");
  std::filesystem::create_directories(scene.path("pred"));
  Volume wrong = Scene::make_label();  // right in the two classes, wrong in every voxel that is ignored
  for (std::int64_t i = 0; i < wrong.voxels.count(); ++i)
    if (auto& v = wrong.voxels.as<std::int32_t>()[i]; v == 2) v = 1;
  write_volume(scene.path("pred") / "case_0.nii.gz", wrong, DiskType::kU8);
  std::filesystem::create_directories(scene.path("alone"));
  std::filesystem::copy(scene.data() / "labelsTr", scene.path("alone/labels"));
  EvaluateLabelsOptions o{.predictions = scene.path("pred"), .references = scene.path("alone/labels")};
  EXPECT_LT(evaluate_labels(o, scene.progress).means.at(0), 1.0) << "nothing says that a label is ignored";
  o.references = scene.data() / "labelsTr";
  EXPECT_EQ(evaluate_labels(o, scene.progress).means.at(0), 1.0) << "dataset.json beside them does";
  o.dataset = scene.data();
  EXPECT_EQ(evaluate_labels(o, scene.progress).means.at(0), 1.0);
}

TEST(IgnoreLabel, ThresholdsAreFittedWithoutItsVoxels) {
  // HU      0 1 2 3       class 1 at 1 and 3; 2 at HU 2 is ignored: [1, 3] hits all, with 2 as background its Dice is
  // 4/5
  Tensor hu(DType::kF32, {1, 1, 4}), label(DType::kI32, {1, 1, 4});
  for (int i = 0; i < 4; ++i) {
    hu.as<float>()[i] = static_cast<float>(i);
    label.as<std::int32_t>()[i] = i == 2 ? 2 : i % 2;
  }
  ThresholdFit counted(2), fit(2, 2);
  counted.add(hu, label), fit.add(hu, label);
  EXPECT_NEAR(counted.solve()[1].fit_dice, 4.0 / 5, 1e-12);
  EXPECT_EQ(fit.solve()[1].fit_dice, 1.0);
}

TEST(IgnoreLabel, TheThresholdBaselineLeavesItOutOfFitAndScore) {
  IgnoreScene scene("ignore_threshold");
  for (int c = 0; c < 2; ++c) {  // the ignored voxels look like class one
    Volume image = read_image(scene.image(c), volume_formats());
    const Volume label = Scene::make_label();
    for (std::int64_t i = 0; i < image.voxels.count(); ++i)
      image.voxels.as<float>()[i] = label.voxels.as<std::int32_t>()[i] == 0 ? -500.F : 40.F;
    write_volume(scene.image(c), image, DiskType::kI16);
  }
  std::filesystem::copy(scene.data() / "labelsTr", scene.path("pred"));
  const LabelScores scores = evaluate_labels({.predictions = scene.path("pred"),
                                              .references = scene.data() / "labelsTr",
                                              .dataset = scene.data(),
                                              .threshold_baseline = true},
                                             scene.progress);
  EXPECT_EQ(scores.thresholds[1].fit_dice, 1.0);
  EXPECT_EQ(scores.baseline_mean_dice, 1.0);
}

TEST(IgnoreLabel, TrainsAndValidatesAModelOfTheOtherClasses) {
  IgnoreScene scene("ignore_train");
  prepare_dataset({.dataset = scene.data(), .work = scene.work(), .spacing = "keep"}, scene.progress);
  TrainOptions o{.work = scene.work(), .run = scene.path("run"), .steps = 2, .resources = {.threads = 2}};
  volumes(o).fold = "0", volumes(o).sampling.crop = {8, 8, 8};
  o.spec.as<UNetConfig>() = {.base_filters = 4, .depth = 3};
  o.spec.precision = DType::kF32;
  const TrainReport report = run_train(o, scene.progress);
  EXPECT_TRUE(std::isfinite(report.loss));
  ASSERT_TRUE(report.validation);
  EXPECT_EQ(report.validation->by_class.size(), 1u) << "the background and one class";
}

}  // namespace
}  // namespace voxshard
