// A detector that only tests/ defines trains, is validated and predicts through the commands, uncut and cut alike.
#include "tests/pipelines/tasks/detection/toy_detector.h"

#include "pipelines/commands/run_evaluate.h"
#include "pipelines/commands/run_predict.h"
#include "tests/pipelines/tasks/detection/images_scene.h"

namespace voxshard {
namespace {

TEST(ToyDetector, TrainsIsValidatedPredictsAndIsEvaluatedOverFourCores) {
  ImagesScene scene("toy_detector");
  TrainOptions o = scene.options("run");
  o.spec = usual_spec(test::toy_detector());
  o.spec.precision = DType::kF32;
  o.spec.cut.mesh.partition = {1, 2, 2, 1};
  o.steps = 150, o.optimizer.learning_rate = 1e-2;
  const TrainReport trained = run_train(o, scene.progress);
  EXPECT_EQ(trained.metric, "ap50");
  ASSERT_TRUE(trained.validation.has_value());
  EXPECT_GT(trained.validation->score, 0.5) << "red and blue squares on grey";

  const ModelTable models = {test::toy_detector()};
  const std::filesystem::path found = scene.path("found.json");
  const PredictReport predicted =
      run_predict({.run = o.run, .input = scene.annotations(), .output = found, .models = models}, scene.progress);
  EXPECT_EQ(predicted.cases.size(), 7u);
  EXPECT_TRUE(predicted.failures.empty());
  const TaskReport scores = run_evaluate({.predictions = found, .references = scene.annotations()}, scene.progress);
  EXPECT_GT(scores.json.at("AP50").get<double>(), 0.5);
}

TEST(ToyDetector, AModelWithoutADetectorIsRefusedByName) {
  ImagesScene scene("toy_no_detector");
  Model model = *test::toy_detector();
  model.detector = nullptr;
  TrainOptions o = scene.options("run");
  o.spec = usual_spec(std::make_shared<const Model>(model));
  expect_error(ErrorKind::kConfig, "toy_detector is no detector", [&] { run_train(o, scene.progress); });
}

}  // namespace
}  // namespace voxshard
