// `evaluate RUN DATA` of classifiers: the loss and accuracies of the run, against its own predictions, over cuts,
// replicas and ranks.
#include "pipelines/tasks/classification/evaluate_items.h"

#include <cmath>

#include "pipelines/commands/run_evaluate.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/classification/scores/class_predictions.h"
#include "tests/pipelines/rank_sessions.h"
#include "tests/pipelines/tasks/classification/class_scene.h"
#include "tests/pipelines/tasks/classification/toy_classifier.h"

namespace voxshard {
namespace {

/// A run of so few steps that it does not distinguish dark from bright well.
struct UnsureScene : ClassScene {
  explicit UnsureScene(const std::string& name) : ClassScene(name) {
    dark_and_bright("data/train", 4), dark_and_bright("data/test", 3);
    TrainOptions o{.work = data(), .run = path("run"), .steps = 3, .batch = 4, .resources = {.threads = 2}};
    o.spec = usual_spec(test::toy_classifier(2));
    o.spec.precision = DType::kF32, o.optimizer.learning_rate = 0.01;
    run_train(o, progress);
  }
  RunScores scores(const EvaluateOptions& asked, const Mesh& mesh = {.partition = {1, 1, 1, 1}},
                   Transport* transport = nullptr) {
    NoProgress quiet;
    const RunContext context(transport != nullptr ? static_cast<Progress&>(quiet) : progress,
                             {.threads = 2, .transport = transport});
    TrainedRun run = load_trained_run({.run = path("run"), .models = test::with_toys(), .transport = transport});
    run.spec.cut = run.spec.cut.over(mesh);
    const auto evaluation = evaluate_items({.data = data()}, run, context);
    return evaluate_run(asked, std::move(run), context, *evaluation);
  }
};

double score_named(const RunScores& scores, const std::string& name) {
  const auto found = std::ranges::find(scores.own, name, &NamedScore::name);
  return found != scores.own.end() ? found->value : std::nan("");
}

TEST(EvaluateItems, LossAndAccuracyAreThoseOfTheRunsPredictions) {
  UnsureScene scene("evaluate_items");
  const RunScores scores = scene.scores({.batch = 2});
  EXPECT_EQ(scores.batches.size(), 3u);
  EXPECT_EQ(scores.batches[0].cases, (std::vector<std::string>{"bright/0.png", "bright/1.png"}));
  EXPECT_EQ(scores.loss_name, "cross_entropy");
  EXPECT_EQ(scores.seen.trained_on.size(), 6u) << "the test part holds the bytes of training items";

  run_predict({.run = scene.path("run"),
               .input = scene.data(),
               .output = scene.path("found.json"),
               .models = test::with_toys()},
              scene.progress);
  const ClassPredictions found = read_class_predictions(scene.path("found.json"));
  ASSERT_EQ(found.rows.size(), 6u);
  double loss = 0, hits = 0;
  for (const ClassPrediction& row : found.rows) {
    const std::size_t label = row.file.starts_with("dark") ? 1 : 0;
    loss -= std::log(row.probabilities[label]) / 6;
    hits += row.probabilities[label] >= row.probabilities[1 - label] ? 1 : 0;
  }
  EXPECT_NEAR(scores.loss, loss, 1e-6 * loss) << "probabilities of f32 logits";
  EXPECT_DOUBLE_EQ(score_named(scores, "top_1_accuracy"), hits / 6);
  EXPECT_DOUBLE_EQ(score_named(scores, "top_5_accuracy"), 1) << "of two classes";
}

TEST(EvaluateItems, CutsReplicasAndRanksChangeNothing) {
  UnsureScene scene("evaluate_items_cut");
  const RunScores whole = scene.scores({.batch = 2}), one = scene.scores({.batch = 1});
  const Mesh cut{.partition = {1, 2, 2, 1}}, replicas{.replicas = 2, .partition = {1, 2, 1, 1}};
  EXPECT_NEAR(scene.scores({.batch = 2}, cut).loss, whole.loss, 1e-6);
  const RunScores over = scene.scores({.batch = 2}, replicas);
  EXPECT_NEAR(over.loss, one.loss, 1e-6) << "the mean of the replicas' losses";
  EXPECT_NEAR(over.batches[0].losses[1], one.batches[1].loss(), 1e-6);
  for (const int ranks : {2, 3}) {
    test::Mailbox mailbox(ranks);
    test::run_valid_ranks(mailbox, [&](Transport& transport) {
      const RunScores scores = scene.scores({.batch = 2}, {.replicas = 2, .partition = {1, 2, 1, 1}}, &transport);
      if (transport.rank() > 0) return;
      EXPECT_EQ(scores.loss, over.loss) << ranks;
      EXPECT_EQ(score_named(scores, "top_1_accuracy"), score_named(over, "top_1_accuracy"));
    });
  }
}

TEST(EvaluateItems, ADamagedItemCostsItself) {
  UnsureScene scene("evaluate_items_damaged");
  scene.damaged("data/test/bright/1.png");
  const RunScores scores = scene.scores({.batch = 1});
  EXPECT_EQ(scores.batches.size(), 5u);
  EXPECT_THAT(ClassScene::codes(scores.failures), testing::ElementsAre("E_READ"));
}

TEST(RunEvaluate, ScoresARunOfAClassifierOnItsTestPart) {
  ClassScene scene("evaluate_digits");
  scene.idx("data", 20, 8);
  TrainOptions o{.work = scene.data(), .run = scene.path("run"), .steps = 2, .batch = 4, .resources = {.threads = 2}};
  o.spec = usual_spec(model_named(model_table(), "digits"));
  o.spec.precision = DType::kF32;
  run_train(o, scene.progress);
  const TaskReport report = run_evaluate(
      {.predictions = scene.path("run"), .references = scene.data(), .summary = scene.path("scores.json"), .batch = 3},
      scene.progress);
  EXPECT_EQ(report.json.at("eval_steps"), 2);
  EXPECT_EQ(report.json.at("dropped"), (nlohmann::json{"00006", "00007"}));
  EXPECT_EQ(report.json.at("global_step"), 2);
  EXPECT_TRUE(report.json.at("loss") > 0 && report.json.at("top_1_accuracy") >= 0 &&
              report.json.at("top_5_accuracy") <= 1);
  EXPECT_EQ(read_json(scene.path("scores.json")).at("loss"), report.json.at("loss"));
  EXPECT_THAT(report.text, testing::HasSubstr("top_1_accuracy"));
  scene.idx("larger", 2, 3, 40);
  expect_error(ErrorKind::kNoCase, "nothing is left to score; 3 left out, the last: 00002 ", [&] {
    run_evaluate({.predictions = scene.path("run"), .references = scene.path("larger")}, scene.progress);
  });
  EvaluateOptions wrong{.predictions = scene.path("run"), .references = scene.data()};
  wrong.task.given = {{"png", {"classification"}}};
  expect_error(ErrorKind::kUsage, "{png} is for classes", [&] { run_evaluate(wrong, scene.progress); });
}

}  // namespace
}  // namespace voxshard
