// Predictions over ranks have the bytes of one process, for every task; an input that cannot be read is left out alone.
#include <algorithm>

#include "io/files/config_file.h"
#include "pipelines/commands/run_evaluate.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/classification/scores/class_predictions.h"
#include "pipelines/tasks/detection/predict_detections.h"
#include "pipelines/tasks/segmentation/evaluate_run.h"
#include "pipelines/tasks/segmentation/scores/volume_validation.h"
#include "tests/pipelines/rank_sessions.h"
#include "tests/pipelines/tasks/classification/class_scene.h"
#include "tests/pipelines/tasks/classification/toy_classifier.h"
#include "tests/pipelines/tasks/detection/images_scene.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

/// Returns the report of rank 0 of a prediction over `ranks` ranks.
PredictReport predict_over(int ranks, const PredictOptions& options, Progress& progress) {
  test::Mailbox mailbox(ranks);
  PredictReport report;
  test::run_valid_ranks(mailbox, [&](Transport& transport) {
    NoProgress quiet;
    PredictReport one = run_predict(options, {transport.rank() == 0 ? progress : quiet, {.transport = &transport}});
    if (transport.rank() == 0) report = std::move(one);
  });
  return report;
}

TEST(RankPredict, LabelMapsHaveTheBytesOfOneProcess) {
  TrainingScene scene("rank_volumes");
  run_train(scene.options("run"), scene.progress);
  std::ofstream(scene.data() / "imagesTs" / "a_torn.nii.gz") << "no volume";
  PredictOptions o{.run = scene.path("run"), .input = scene.data() / "imagesTs", .output = scene.path("alone")};
  o.partition = Dims{1, 2, 2, 1, 1};
  const PredictReport alone = run_predict(o, scene.progress);
  ASSERT_EQ(alone.cases.size(), 1u);
  ASSERT_EQ(alone.failures.size(), 1u);
  for (const int ranks : {2, 3, 4}) {
    o.output = scene.path("over" + std::to_string(ranks));
    const PredictReport over = predict_over(ranks, o, scene.progress);
    ASSERT_EQ(over.cases.size(), 1u) << ranks;
    ASSERT_EQ(over.failures.size(), 1u) << "a torn file costs itself";
    EXPECT_EQ(over.failures[0].message, alone.failures[0].message);
    EXPECT_TRUE(Scene::bytes_of(over.cases[0].file) == Scene::bytes_of(alone.cases[0].file)) << ranks;
    ASSERT_EQ(over.ranks.size(), static_cast<std::size_t>(ranks)) << "the memory of each";
    for (const auto& rank : over.ranks) EXPECT_GT(rank.at("memory").at("planned").at("arenas"), 0) << rank;
    EXPECT_EQ(predict_over(ranks, o, scene.progress).kept, 1) << "what is there is kept, on all ranks";
  }
}

TEST(RankPredict, AnInputFolderWithoutAnUsableImageEndsAllRanks) {
  TrainingScene scene("rank_none");
  run_train(scene.options("run"), scene.progress);
  std::filesystem::create_directories(scene.path("bad"));
  std::ofstream(scene.path("bad") / "torn.nii.gz") << "no volume";
  expect_error(ErrorKind::kNoCase, "none of 1 images", [&] {
    PredictOptions o{.run = scene.path("run"), .input = scene.path("bad"), .output = scene.path("pred")};
    o.partition = Dims{1, 2, 2, 1, 1};
    predict_over(3, o, scene.progress);
  });
}

TEST(RankPredict, ValidationIsThatOfOneProcessOnEveryRank) {
  TrainingScene scene("rank_validation");
  const PreparedDataset dataset = read_prepared(scene.work());
  ModelSpec spec = test::small_unet({1, 2, 2, 1, 1});
  spec.set("classes", dataset.plan.classes());
  std::vector<double> alone;
  for (const int ranks : {1, 2, 3, 4})
    test::over_ranks(ranks, spec, [&](Session& session) {
      NoProgress quiet;
      const auto pass = validate_volumes(dataset, {0, 1}, overlap_metrics().front(), spec.multiple());
      const std::vector<double> dice = run_validation(
                                           session, *pass, [](const CaseFailure&) { FAIL(); }, quiet)
                                           .by_class;
      if (ranks == 1) alone = dice;
      EXPECT_EQ(dice, alone) << ranks;
    });
  EXPECT_EQ(std::ssize(alone), dataset.plan.classes() - 1);
  EXPECT_GT(*std::ranges::max_element(alone), 0);
}

TEST(RankPredict, ScoresOfARunAreThoseOfOneProcess) {
  TrainingScene scene("rank_scores");
  TrainOptions t = scene.options("run");
  t.spec.cut.mesh = {.replicas = 2, .partition = {1, 1, 2, 1, 1}};
  t.batch = 2;
  run_train(t, scene.progress);
  const auto scores = [&](Transport* transport) {
    EvaluateOptions o{.predictions = scene.path("run"), .references = scene.work(), .batch = 2};
    o.task.of<EvaluateRunOptions>().fold = "all";
    NoProgress quiet;
    auto json = run_evaluate(o, {quiet, {.transport = transport}}).json;
    for (const char* differs : {"seconds", "memory", "ranks"}) json.erase(differs);
    return json;
  };
  const auto alone = scores(nullptr);
  ASSERT_GT(alone.at("eval_steps"), 0);
  for (const int ranks : {2, 3, 4}) {
    test::Mailbox mailbox(ranks);
    test::run_valid_ranks(mailbox, [&](Transport& transport) {
      const auto over = scores(&transport);
      if (transport.rank() == 0) {
        EXPECT_EQ(over, alone) << ranks;
      }
    });
  }
}

TEST(RankPredict, DetectionsHaveTheBytesOfOneProcess) {
  ImagesScene scene("rank_pictures");
  TrainOptions t = scene.options("run");
  t.steps = 6, detection_options(t).held_out.validate = false, t.optimizer.learning_rate = 3e-3;
  run_train(t, scene.progress);
  PredictOptions o{.run = scene.path("run"), .input = scene.data() / "images", .output = scene.path("alone.json")};
  std::ofstream(o.input / "a_broken.png") << "no picture";
  o.task.of<DetectionPrediction>().postprocess = "legacy";
  o.partition = Dims{1, 2, 3, 1};
  const PredictReport alone = run_predict(o, scene.progress);
  ASSERT_GT(alone.found.at("detections"), 0);
  for (const int ranks : {2, 3, 4}) {
    o.output = scene.path("over" + std::to_string(ranks) + ".json");
    const PredictReport over = predict_over(ranks, o, scene.progress);
    EXPECT_EQ(over.failures.size(), 1u) << "a broken picture costs itself";
    EXPECT_TRUE(Scene::bytes_of(o.output) == Scene::bytes_of(scene.path("alone.json"))) << ranks;
  }
}

TEST(RankPredict, ClassesHaveTheBytesOfOneProcess) {
  ClassScene scene("rank_classes");
  scene.dark_and_bright("data/train", 4), scene.dark_and_bright("data/test", 5, 9);
  TrainOptions t{.work = scene.data(), .run = scene.path("run"), .steps = 5, .batch = 4, .resources = {.threads = 2}};
  t.spec = usual_spec(test::toy_classifier(2));
  t.spec.precision = DType::kF32;
  run_train(t, scene.progress);
  for (const Dims& partition : {Dims{1, 3, 2, 1}, Dims{4, 1, 1, 1}}) {
    PredictOptions o{.run = scene.path("run"),
                     .input = scene.data(),
                     .output = scene.path("alone.json"),
                     .models = test::with_toys()};
    o.partition = partition;
    run_predict(o, scene.progress);
    for (const int ranks : {2, 3, 4}) {
      o.output = scene.path("over" + std::to_string(ranks) + ".json");
      predict_over(ranks, o, scene.progress);
      EXPECT_TRUE(Scene::bytes_of(o.output) == Scene::bytes_of(scene.path("alone.json")))
          << ranks << " ranks over " << to_string(partition);
    }
  }
}

}  // namespace
}  // namespace voxshard
