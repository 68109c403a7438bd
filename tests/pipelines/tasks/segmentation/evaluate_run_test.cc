// `evaluate RUN DATA`: what TPUEstimator's evaluate reports, against plain loops over the logits, and what does not
// change it.
#include "pipelines/tasks/segmentation/evaluate_run.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "pipelines/commands/run_evaluate.h"
#include "pipelines/tasks/segmentation/samples/sample_source.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Three prepared cases and a run of two steps.
struct Trained : TrainingScene {
  explicit Trained(const std::string& name, LossKind loss = LossKind::kDiceCE) : TrainingScene(name, 3) {
    TrainOptions o = options("run");
    o.steps = 2;
    o.spec.as<UNetConfig>().loss = loss;
    run_train(o, progress);
  }
  RunScores scores(EvaluateRunOptions own, EvaluateOptions asked, Mesh mesh = {.partition = {1, 1, 1, 1, 1}}) {
    TrainedRun run = load_trained_run({.run = path("run")});
    run.spec.cut = run.spec.cut.over(mesh);
    own.work = work();
    const RunContext context(progress, {.threads = 2});
    const auto evaluation = evaluate_volumes(own, run, progress);
    return evaluate_run(asked, std::move(run), context, *evaluation);
  }
};

double named(const std::vector<NamedScore>& scores, const std::string& name) {
  const auto found = std::ranges::find(scores, name, &NamedScore::name);
  return found != scores.end() ? found->value : std::nan("");
}

/// metrics.py of the reference model in plain loops, over voxels with a class.
struct Plain {
  double correct = 0, voxels = 0, cross_entropy = 0;
  std::vector<double> common, sizes;

  void add(const Tensor& logits, const Tensor& labels) {
    const std::int64_t classes = logits.shape().back();
    common.resize(classes), sizes.resize(classes);
    for (std::int64_t i = 0; i < labels.count(); ++i) {
      const std::int32_t label = labels.as<std::int32_t>()[i];
      if (label < 0) continue;
      const float* row = logits.as<float>() + i * classes;
      std::vector<double> p;
      double sum = 0;
      for (std::int64_t c = 0; c < classes; ++c) p.push_back(std::exp(static_cast<double>(row[c]))), sum += p.back();
      for (double& value : p) value /= sum;
      correct += std::max_element(p.begin(), p.end()) - p.begin() == label ? 1 : 0;
      ++voxels;
      cross_entropy -= std::log(p[label]);
      for (std::size_t c = 0; c < p.size(); ++c) {
        const double y = static_cast<std::int32_t>(c) == label ? 1 : 0;
        common[c] += y * p[c], sizes[c] += y + p[c];
      }
    }
  }
  double adaptive_dice32() const {
    double sum = 0;
    for (std::size_t c = 0; c < common.size(); ++c) {
      const double dice = 2 * (common[c] + 1e-7) / (sizes[c] + 1e-7);
      sum += std::exp(-dice) * dice;
    }
    return 1 - sum / (static_cast<double>(common.size()) * std::exp(-1.0));
  }
};

TEST(EvaluateRun, ABatchIsWhatPlainLoopsOverItsLogitsGive) {
  Trained scene("evaluate_plain", LossKind::kAdaptiveDice32);
  const RunScores scores = scene.scores({.crop = {16, 16, 16}}, {.batch = 1, .steps = 1});
  ASSERT_EQ(scores.batches.size(), 1u);

  const PreparedDataset dataset = read_prepared(scene.work());
  const SampleSource source(dataset, {0}, {.crop = {16, 16, 16}, .intensity_scale = 0, .noise = 0});
  Sample centre;
  centre.size = {16, 16, 16};
  for (int a = 0; a < 3; ++a) {
    const std::int64_t room = 16 - dataset.cases[0].shape[a];
    centre.begin[a] = room > 0 ? -(room / 2) : (-room) / 2;
  }
  TrainedRun run = load_trained_run({.run = scene.path("run")});
  WorkerPool pool(1);
  const auto session = prediction_session(run, {}, pool);
  CoreSet& cores = session->cores({1, 16, 16, 16}, Phase::kPredict);
  const Graph& graph = cores.executable().program.graph;
  const std::vector<Sample> batch = {centre};
  cores.feed(graph.find("image"), [&](const TensorView& box) { source.fill(batch, input::Image{}, box); });
  cores.run();
  const Tensor labels(DType::kI32, {1, 16, 16, 16, 1});
  source.fill(batch, input::Labels{.classes = dataset.plan.classes()}, labels.view());
  Plain plain;
  plain.add(cores.gather(graph.outputs.at("logits")), labels);
  EXPECT_DOUBLE_EQ(named(scores.own, "accuracy"), plain.correct / plain.voxels);
  EXPECT_NEAR(named(scores.own, "categorical_crossentropy"), plain.cross_entropy / plain.voxels, 1e-6);
  EXPECT_NEAR(named(scores.own, "adaptive_dice32"), plain.adaptive_dice32(), 1e-6);
  EXPECT_DOUBLE_EQ(scores.loss, named(scores.own, "adaptive_dice32")) << "the loss of this model";
}

TEST(EvaluateRun, AveragesOverWholeBatchesInOrderAndSaysWhatItDrops) {
  Trained scene("evaluate_mean");
  const RunScores two = scene.scores({}, {.batch = 2}), one = scene.scores({}, {.batch = 1});
  const PreparedDataset dataset = read_prepared(scene.work());
  ASSERT_EQ(two.batches.size(), 1u);
  EXPECT_THAT(two.batches[0].cases, ElementsAre(dataset.cases[0].id, dataset.cases[1].id));
  EXPECT_THAT(two.dropped, ElementsAre(dataset.cases[2].id));
  EXPECT_THAT(scene.progress.lines, Not(testing::Contains(HasSubstr("prepared otherwise"))));
  EXPECT_THAT(scene.progress.lines,
              testing::Contains(HasSubstr("1 of 3 cases do not fill a batch of 2 and are dropped")));
  ASSERT_EQ(one.batches.size(), 3u);
  EXPECT_TRUE(one.dropped.empty());
  double loss = 0, adaptive = 0, correct = 0, volume = 0;
  for (std::size_t b = 0; b < 3; ++b) {
    const auto voxels = static_cast<double>(element_count(dataset.cases[b].shape));
    loss += one.batches[b].loss() / 3, adaptive += named(one.batches[b].own, "adaptive_dice32") / 3;
    correct += voxels * named(one.batches[b].own, "accuracy"), volume += voxels;
  }
  EXPECT_DOUBLE_EQ(one.loss, loss);
  EXPECT_DOUBLE_EQ(named(one.own, "adaptive_dice32"), adaptive);
  EXPECT_DOUBLE_EQ(named(one.own, "accuracy"), correct / volume) << "over voxels; what is padded counts nowhere";
}

TEST(EvaluateRun, WithStepsTheDataAreRepeated) {
  Trained scene("evaluate_steps");
  const RunScores scores = scene.scores({}, {.batch = 2, .steps = 3});
  const PreparedDataset dataset = read_prepared(scene.work());
  ASSERT_EQ(scores.batches.size(), 3u);
  EXPECT_THAT(scores.batches[1].cases, ElementsAre(dataset.cases[2].id, dataset.cases[0].id));
  EXPECT_THAT(scores.batches[2].cases, ElementsAre(dataset.cases[1].id, dataset.cases[2].id));
  EXPECT_TRUE(scores.dropped.empty());
}

TEST(EvaluateRun, ReplicasHaveLossesOfTheirOwnAndCutsChangeNothing) {
  Trained scene("evaluate_mesh");
  const EvaluateRunOptions own{.crop = {16, 16, 16}};
  const RunScores whole = scene.scores(own, {.batch = 2}),
                  cut = scene.scores(own, {.batch = 2}, {.partition = {1, 2, 2, 1, 1}}),
                  replicas = scene.scores(own, {.batch = 2}, {.replicas = 2, .partition = {1, 2, 1, 1, 1}});
  const RunScores alone = scene.scores(own, {.batch = 1});
  for (const RunScores* scores : {&cut, &replicas}) {
    EXPECT_EQ(named(scores->own, "accuracy"), named(whole.own, "accuracy"));
    for (const char* score : {"categorical_crossentropy", "adaptive_dice32"})
      EXPECT_NEAR(named(scores->own, score), named(whole.own, score), 1e-9)
          << score << " of the batch gathered from all replicas";
  }
  EXPECT_NEAR(cut.loss, whole.loss, 1e-9);
  ASSERT_EQ(replicas.batches[0].losses.size(), 2u);
  EXPECT_NEAR(replicas.loss_replica_0, alone.batches[0].loss(), 1e-9);
  EXPECT_NEAR(replicas.loss, (alone.batches[0].loss() + alone.batches[1].loss()) / 2, 1e-9);
}

TEST(EvaluateRun, DataThatDoNotFitAreRefused) {
  Trained scene("evaluate_refused");
  expect_error(ErrorKind::kNoCase, "3 cases do not fill a batch of 4", [&] { scene.scores({}, {.batch = 4}); });
  expect_error(ErrorKind::kConfig, "{fold} is \"9\"", [&] { scene.scores({.fold = "9"}, {}); });
  EXPECT_EQ(scene.scores({.fold = "1"}, {}).batches.size(), 1u) << "one of three is held out";
  expect_error(ErrorKind::kConfig, "divisible by the 2 replicas", [&] {
    scene.scores({}, {.batch = 3}, {.replicas = 2, .partition = {1, 1, 1, 1, 1}});
  });
}

TEST(RunEvaluate, TheConditionsOfEvaluationReachIt) {
  Trained scene("evaluate_conditions");
  const EvaluateOptions o{.predictions = scene.path("run"), .references = scene.work()};
  const auto with = [](const std::string& json) {
    return EstimatorOptions{.config = tpu_config_from_json(nlohmann::json::parse(json))};
  };
  const auto refused = [&](const std::string& json, const std::string& piece) {
    expect_error(ErrorKind::kConfig, piece, [&] { run_evaluate(o, scene.progress, task_table(), with(json)); });
  };
  refused(R"({"num_shards": 2, "eval_batch_size": 3})", "eval_batch_size is 3, which 2 replicas cannot share evenly");
  refused(R"({"input_partition_dims": [1, 16, 1, 1, 1], "num_shards": 2, "eval_batch_size": 1})",
          "eval_batch_size is 1, which 2 replicas");
  refused(R"({"num_shards": 16, "eval_batch_size": 16})", "evaluation needs one host, or BROADCAST, or PER_HOST_V2");
  refused(R"({"num_cores_per_replica": 4})", "say how with input_partition_dims");

  const auto json =
      run_evaluate(o, scene.progress, task_table(),
                   with(R"({"input_partition_dims": [1, 2, 1, 1, 1], "num_shards": 2, "eval_batch_size": 2})"))
          .json;
  EXPECT_EQ(json["partition"], "1x2x1x1x1");
  EXPECT_EQ(json["replicas"], 2);
  EXPECT_EQ(json["eval_batch_size"], 2);
  EXPECT_EQ(json["eval_steps"], 1);
  EXPECT_EQ(json["global_step"], 2);
  EXPECT_EQ(json["dropped"].size(), 1u);
  EstimatorOptions on_host = with(R"({"num_shards": 2, "eval_batch_size": 3})");
  on_host.eval_on_tpu = false;
  EXPECT_EQ(run_evaluate(o, scene.progress, task_table(), on_host).json["replicas"], 1) << "no condition holds there";
}

}  // namespace
}  // namespace voxshard
