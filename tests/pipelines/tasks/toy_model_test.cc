// A model that only this folder defines is trained, resumed, predicted with and planned through the commands.
#include "tests/pipelines/tasks/toy_model.h"

#include <gmock/gmock.h>

#include "pipelines/commands/run_demo.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/model_runs/checkpoint.h"
#include "pipelines/planning/run_plan.h"
#include "tests/pipelines/tasks/toy_task.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

struct ToyModelScene : Scene {
  using Scene::Scene;

  TrainOptions training() {
    run_demo({.folder = data(), .task = "halves", .cases = 5}, progress, tasks);
    TrainOptions o{
        .work = data() / "toy.txt", .run = path("run"), .steps = 40, .batch = 2, .resources = {.threads = 2}};
    o.spec = usual_spec(models.front());
    o.spec.set("shape", "steep");
    o.spec.cut.mesh.partition = {1, 1, 2, 1};
    o.spec.precision = DType::kF32;
    o.optimizer.learning_rate = 2e-2;
    return o;
  }

  ModelTable models = {test::toy_model()};
  TaskTable tasks = {std::make_shared<test::ToyTask>()};
};

TEST(ToyModel, TrainsAndPredictsThroughTheCommands) {
  ToyModelScene scene("toy_model");
  const TrainOptions o = scene.training();
  const TrainReport trained = run_train(o, scene.progress, scene.tasks);
  EXPECT_EQ(trained.to_json().at("mean_hits"), 1.0);
  const auto model = load_checkpoint(o.run / "checkpoints" / "last.safetensors").state.model;
  EXPECT_EQ(model.at("model"), "toy");
  EXPECT_EQ(model.at("shape"), "steep");
  PredictOptions predict{.run = o.run, .input = o.work, .output = scene.path("found.txt"), .models = scene.models};
  EXPECT_EQ(to_json(run_predict(predict, scene.progress, scene.tasks)).at("pictures"), 5);
  predict.models = model_table();
  expect_error(ErrorKind::kCheckpoint, "the model \"toy\" is not known; expected unet3d, unet2d, retinanet",
               [&] { run_predict(predict, scene.progress, scene.tasks); });
}

TEST(ToyModel, ARunOfAnotherFieldIsNotResumed) {
  ToyModelScene scene("toy_model_resume");
  TrainOptions o = scene.training();
  o.steps = 2;
  run_train(o, scene.progress, scene.tasks);
  o.resume = true;
  o.spec.set("slope", 0.5);
  expect_error(ErrorKind::kCheckpoint, "/model/slope", [&] { run_train(o, scene.progress, scene.tasks); });
}

TEST(ToyModel, IsPlanned) {
  ToyModelScene scene("toy_model_plan");
  PlanOptions o{.spec = usual_spec(scene.models.front()),
                .extents = {1, 64, 64},
                .device = device_from_name("tpu-v3"),
                .cores = 4,
                .threads = 2};
  const PlanReport report = run_plan(o, scene.progress);
  EXPECT_EQ(with_plan(o.spec, report.chosen()).model_name(), "toy");
  EXPECT_EQ(report.chosen().cut.mesh.partition.axes(), 4);
}

TEST(ToyModel, ComesBackFromJsonAndItsFieldsAreItsArchitecture) {
  const ModelTable models = {test::toy_model()};
  ModelSpec spec = usual_spec(models.front());
  spec.set("width", std::int64_t{5});
  const ModelSpec back = model_spec_from_json(to_json(spec), models);
  EXPECT_EQ(to_json(back), to_json(spec));
  spec.set("slope", 0.5);
  EXPECT_EQ(architecture_text(spec), architecture_text(back)) << "slope shapes no tensor";
  spec.set("width", std::int64_t{6});
  EXPECT_NE(architecture_text(spec), architecture_text(back));
}

TEST(ToyModel, FieldsRefuseWhatTheirRowsDoNotAllow) {
  ModelSpec spec = usual_spec(test::toy_model());
  expect_error(ErrorKind::kConfig, "width must be 1 to 16, got 17", [&] { spec.set("width", std::int64_t{17}); });
  expect_error(ErrorKind::kConfig, "classes must be at least 2, got 1", [&] { spec.set("classes", std::int64_t{1}); });
  expect_error(ErrorKind::kConfig, "slope must be at least 0 and below 1, got 1",
               [&] { spec.set("slope", std::int64_t{1}); });
  expect_error(ErrorKind::kConfig, "width should be a whole number, got 2.5", [&] { spec.set("width", 2.5); });
  expect_error(ErrorKind::kConfig, "the shape \"round\" is not known; expected flat, steep",
               [&] { spec.set("shape", "round"); });
}

}  // namespace
}  // namespace voxshard
