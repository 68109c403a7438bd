// `evaluate RUN DATA` of detectors: the loss with its parts and AP, against the run's own predictions, over cuts and
// ranks.
#include "pipelines/tasks/detection/scores/evaluate_images.h"

#include <cmath>

#include "pipelines/commands/run_evaluate.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/detection/predict_detections.h"
#include "pipelines/tasks/detection/scores/evaluate_detections.h"
#include "tests/pipelines/rank_sessions.h"
#include "tests/pipelines/tasks/detection/images_scene.h"

namespace voxshard {
namespace {

/// A detector after some steps, some of whose boxes hit.
struct EvaluatedDetector : ImagesScene {
  explicit EvaluatedDetector(const std::string& name) : ImagesScene(name) {
    TrainOptions o = options("run");
    o.steps = 40, detection_options(o).held_out.validate = false, o.optimizer.learning_rate = 3e-3;
    run_train(o, progress);
  }
  nlohmann::ordered_json scores(const EvaluateOptions& asked, Transport* transport = nullptr,
                                const Dims& partition = {1, 1, 1, 1}, std::int64_t replicas = 1) {
    EvaluateOptions o = asked;
    o.predictions = path("run"), o.references = annotations();
    NoProgress quiet;
    const RunContext context(transport != nullptr ? static_cast<Progress&>(quiet) : progress,
                             {.threads = 2, .transport = transport});
    TrainedRun run = load_trained_run({.run = path("run"), .transport = transport});
    run.spec.cut = run.spec.cut.over({.replicas = replicas, .partition = partition});
    const auto evaluation = evaluate_images({.data = annotations()}, run, context);
    auto json = to_json(evaluate_run(o, std::move(run), context, *evaluation));
    json.erase("seconds");
    return json;
  }
};

TEST(EvaluateImages, LossIsTheSumOfItsPartsAndApThatOfThePredictions) {
  EvaluatedDetector scene("evaluate_images");
  const auto scores = scene.scores({.batch = 1});
  EXPECT_EQ(scores.at("eval_steps"), 7);
  EXPECT_DOUBLE_EQ(scores.at("loss").get<double>(),
                   scores.at("cls_loss").get<double>() + 50 * scores.at("box_loss").get<double>());
  PredictOptions p{.run = scene.path("run"), .input = scene.annotations(), .output = scene.path("found.json")};
  run_predict(p, scene.progress);
  const auto predicted =
      run_evaluate({.predictions = scene.path("found.json"), .references = scene.annotations()}, scene.progress).json;
  ASSERT_GT(predicted.at("AP50").get<double>(), 0) << "else nothing is compared";
  for (const char* name : {"AP", "AP50", "AR_100"})
    EXPECT_NEAR(scores.at(name).get<double>(), predicted.at(name).get<double>(), 1e-12) << name;
}

TEST(EvaluateImages, CutsReplicasAndRanksChangeNothing) {
  EvaluatedDetector scene("evaluate_images_cut");
  const auto whole = scene.scores({.batch = 2, .steps = 3}), one = scene.scores({.batch = 1, .steps = 2});
  const auto cut = scene.scores({.batch = 2, .steps = 3}, nullptr, {1, 2, 2, 1});
  EXPECT_NEAR(cut.at("loss").get<double>(), whole.at("loss").get<double>(), 1e-5 * whole.at("loss").get<double>())
      << "sums of f32 in another order";
  const auto replicas = scene.scores({.batch = 2, .steps = 1}, nullptr, {1, 2, 1, 1}, 2);
  EXPECT_NEAR(replicas.at("loss").get<double>(), one.at("loss").get<double>(), 1e-5 * one.at("loss").get<double>());
  for (const int ranks : {2, 3}) {
    test::Mailbox mailbox(ranks);
    test::run_valid_ranks(mailbox, [&](Transport& transport) {
      const auto over = scene.scores({.batch = 2, .steps = 3}, &transport, {1, 2, 2, 1});
      if (transport.rank() == 0) {
        EXPECT_EQ(over, cut) << ranks;
      }
    });
  }
}

TEST(EvaluateImages, ClassesThatTheRunDoesNotKnowAreRefused) {
  EvaluatedDetector scene("evaluate_images_classes");
  nlohmann::json json = read_json(scene.annotations());
  json["categories"][1]["name"] = "green";
  std::ofstream(scene.annotations()) << json.dump();
  expect_error(ErrorKind::kConfig, "has the class green", [&] { scene.scores({.batch = 1}); });
}

}  // namespace
}  // namespace voxshard
