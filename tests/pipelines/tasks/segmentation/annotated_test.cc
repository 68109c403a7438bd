// Classes that were not annotated in a case: their voxels are neither trained as background nor scored.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "pipelines/tasks/segmentation/samples/sample_source.h"
#include "tests/expect_error.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

/// Cases of which those named lack the class two.
struct PartialScene : Scene {
  PartialScene(const std::string& name, int cases, const std::vector<std::string>& partial) : Scene(name) {
    write_dataset(cases);
    edit_dataset([&](nlohmann::json& json) {
      for (const std::string& id : partial) json["annotated"][id] = {"one"};
    });
    prepare_dataset({.dataset = data(), .work = work(), .spacing = "keep"}, progress);
  }
};

TEST(AnnotatedClasses, TheBackgroundOfAnIncompleteCaseIsIgnoredAndThatOfAnotherIsNot) {
  PartialScene scene("annotated_source", 2, {"case_1"});
  const Volume truth = Scene::make_label();
  for (const std::size_t item : {0u, 1u}) {
    const SampleSource source(read_prepared(scene.work()), {item},
                              {.crop = {8, 10, 12}, .intensity_scale = 0, .noise = 0});
    Tensor labels(DType::kI32, {1, 8, 10, 12, 1});
    source.fill(source.batch(0, 1), input::Labels{.classes = 3, .ignored = -7}, labels.view());
    for (std::int64_t i = 0; i < labels.count(); ++i) {
      const std::int32_t wanted = truth.voxels.as<std::int32_t>()[i];
      ASSERT_EQ(labels.as<std::int32_t>()[i], item == 1 && wanted == 0 ? -7 : wanted) << item << " " << i;
    }
  }
}

TEST(AnnotatedClasses, CropsOfAnIncompleteCaseAlwaysHoldAContouredVoxel) {
  PartialScene scene("annotated_crops", 1, {"case_0"});
  const SampleSource source(read_prepared(scene.work()), {0}, {.crop = {1, 1, 1}, .foreground = 0});
  for (std::int64_t step = 0; step < 50; ++step) {
    Tensor label(DType::kI32, {1, 1, 1, 1, 1});
    source.fill(source.batch(step, 1), input::Labels{.classes = 3, .ignored = -7}, label.view());
    ASSERT_NE(label.as<std::int32_t>()[0], -7) << step;
  }
}

TrainOptions training(const Scene& scene, const std::string& fold) {
  TrainOptions o{.work = scene.work(), .run = scene.path("run"), .steps = 2, .resources = {.threads = 2}};
  volumes(o).fold = fold, volumes(o).sampling.crop = {8, 8, 8};
  o.spec.as<UNetConfig>() = {.base_filters = 4, .depth = 3};
  o.spec.precision = DType::kF32;
  return o;
}

TEST(AnnotatedClasses, ValidationScoresAClassOnlyWhereItWasAnnotated) {
  PartialScene scene("annotated_validation", 2, {});
  TrainOptions o = training(scene, "0");
  ASSERT_TRUE(run_train(o, scene.progress).validation);
  // Of the same two cases, the one that validates lacks class two now.
  nlohmann::json json = read_json(scene.path("run") / "splits_final.json");
  const std::string trains = json.at(0).at("train").at(0);
  PartialScene half("annotated_validation_half", 2, {trains == "case_0" ? "case_1" : "case_0"});
  const TrainReport report = run_train(training(half, "0"), half.progress);
  ASSERT_TRUE(report.validation);
  ASSERT_EQ(report.validation->by_class.size(), 2u);
  EXPECT_TRUE(std::isfinite(report.validation->by_class[0]));
  EXPECT_TRUE(std::isnan(report.validation->by_class[1]));
}

TEST(AnnotatedClasses, TrainingWithoutAnyBackgroundIsRefused) {
  PartialScene scene("annotated_refused", 2, {"case_0", "case_1"});
  TrainOptions o = training(scene, "all");
  expect_error(ErrorKind::kConfig, "nothing teaches the background", [&] { run_train(o, scene.progress); });
}

}  // namespace
}  // namespace voxshard
