// A task that only this folder defines works in every command, by the table in which it is passed.
#include "tests/pipelines/tasks/toy_task.h"

#include <gmock/gmock.h>

#include "pipelines/commands/run_demo.h"
#include "pipelines/commands/run_evaluate.h"
#include "pipelines/commands/run_info.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/commands/run_prepare.h"
#include "tests/pipelines/training_scene.h"
#include "tests/ranks/mailbox.h"

namespace voxshard {
namespace {

/// Two columns of cores, so that the halves lie on different ones.
struct ToyScene : Scene {
  using Scene::Scene;

  TrainOptions training(const std::string& run) {
    run_demo({.folder = data(), .task = "halves", .cases = 5}, progress, tasks);
    TrainOptions o{.work = data() / "toy.txt", .run = path(run), .steps = 30, .batch = 2, .resources = {.threads = 2}};
    o.spec = usual_spec(model_named(model_table(), "unet2d"));
    o.spec.as<UNetConfig>() = {.base_filters = 4, .depth = 2};
    o.spec.cut.mesh.partition = {1, 1, 2, 1};
    o.spec.precision = DType::kF32;
    o.optimizer.learning_rate = 1e-2;
    return o;
  }

  TaskTable tasks = {std::make_shared<test::ToyTask>()};
};

TEST(ToyTask, TrainsPredictsAndIsEvaluatedThroughTheCommands) {
  ToyScene scene("toy_all");
  const TrainOptions o = scene.training("run");
  const TrainReport trained = run_train(o, scene.progress, scene.tasks);
  EXPECT_EQ(trained.metric, "hits");
  EXPECT_EQ(trained.train_cases, 5);
  EXPECT_EQ(trained.to_json().at("mean_hits"), 1.0);
  const PredictReport found =
      run_predict({.run = o.run, .input = o.work, .output = scene.path("found.txt")}, scene.progress, scene.tasks);
  EXPECT_EQ(to_json(found).at("pictures"), 5);
  const TaskReport scores =
      run_evaluate({.predictions = scene.path("found.txt"), .references = o.work}, scene.progress, scene.tasks);
  EXPECT_EQ(scores.json.at("hits"), 5);
}

/// Calls `run` on several ranks, each in a thread. Returns the report of rank 0.
template <class Report>
Report over_mailbox(int ranks, const std::function<Report(Transport&)>& run) {
  test::Mailbox mailbox(ranks);
  Report report;
  test::run_valid_ranks(mailbox, [&](Transport& transport) {
    Report one = run(transport);
    if (transport.rank() == 0) report = std::move(one);
  });
  return report;
}

TEST(ToyTask, TrainsAndPredictsTheSameOverRanksOfWhichItDoesNotKnow) {
  ToyScene scene("toy_ranks");
  TrainOptions o = scene.training("alone");
  o.spec.cut.mesh.partition = {1, 1, 4, 1};
  o.steps = 6, o.resources.threads = 1;
  run_train(o, scene.progress, scene.tasks);
  PredictOptions p{.run = o.run, .input = o.work, .output = scene.path("alone.txt")};
  run_predict(p, scene.progress, scene.tasks);
  o.run = scene.path("over");
  over_mailbox<TrainReport>(3, [&](Transport& transport) {
    TrainOptions own = o;
    own.resources.transport = &transport;
    NoProgress quiet;
    return run_train(own, quiet, scene.tasks);
  });
  EXPECT_EQ(Scene::bytes_of(o.run / "checkpoints/last.safetensors"),
            Scene::bytes_of(scene.path("alone/checkpoints/last.safetensors")));
  const auto predict = [&](Progress& first) {
    return over_mailbox<PredictReport>(3, [&](Transport& transport) {
      NoProgress quiet;
      return run_predict(p, {transport.rank() == 0 ? first : quiet, {.transport = &transport}}, scene.tasks);
    });
  };
  p.run = o.run, p.output = scene.path("over.txt");
  EXPECT_EQ(predict(scene.progress).cases.size(), 5u);
  EXPECT_EQ(Scene::bytes_of(scene.path("over.txt")), Scene::bytes_of(scene.path("alone.txt")));

  std::ofstream(scene.path("damaged.txt")) << "LRXR";
  p.input = scene.path("damaged.txt");
  const PredictReport damaged = predict(scene.progress);
  ASSERT_EQ(damaged.failures.size(), 1u) << "the others are predicted";
  EXPECT_EQ(damaged.failures[0].id, "2");
  EXPECT_EQ(damaged.cases.size(), 3u);

  struct StopsBehindTwo : RecordingProgress {
    bool stop_requested() const override { return updates > 2; }
  } stopped;
  const PredictReport cut_short = predict(stopped);
  EXPECT_TRUE(cut_short.interrupted);
  EXPECT_EQ(cut_short.cases.size(), 2u);
  EXPECT_EQ(cut_short.not_reached, (std::vector<std::string>{"2", "3"}));
}

TEST(ToyTask, ARunOfAnotherSettingIsNotResumed) {
  ToyScene scene("toy_resume");
  TrainOptions o = scene.training("run");
  o.steps = 2;
  run_train(o, scene.progress, scene.tasks);
  o.resume = true, o.steps = 2;
  o.task.of<test::ToyOptions>().noise = 0.5;
  expect_error(ErrorKind::kCheckpoint, "/training/noise", [&] { run_train(o, scene.progress, scene.tasks); });
}

TEST(ToyTask, IsDescribedBesideTheOthers) {
  ToyScene scene("toy_info");
  run_demo({.folder = scene.data(), .task = "halves"}, scene.progress, scene.tasks);
  TaskTable all = task_table();
  all.insert(all.end(), scene.tasks.begin(), scene.tasks.end());
  const auto json = to_json(run_info({scene.data() / "toy.txt"}, {}, all));
  EXPECT_EQ(json.at("toys").at(0).at("pictures"), 6);
  EXPECT_TRUE(json.at("detection_sets").empty());
}

TEST(ToyTask, WhatNoTaskWantsPreparedIsRefused) {
  ToyScene scene("toy_prepare");
  expect_error(ErrorKind::kUsage, "as they are",
               [&] { run_prepare({.dataset = scene.data(), .work = scene.work()}, scene.progress, scene.tasks); });
}

TEST(ToyTask, IsNamedInHelpBesideTheOthers) {
  TaskTable all = task_table();
  all.push_back(std::make_shared<test::ToyTask>());
  std::vector<std::string> names;
  for (const Task* task : tasks_by_models(all)) names.push_back(task->name());
  EXPECT_THAT(names, testing::ElementsAre("segmentation", "halves", "detection", "classification"))
      << "by their models";
  const auto clauses = task_clauses(&TaskWords::training_data, all);
  ASSERT_EQ(clauses.size(), 4u);
  EXPECT_EQ(clauses.at(1), "of halves a text of letters");
  EXPECT_EQ(task_clauses(&TaskWords::demo_cases, all).size(), 3u) << "what has nothing to say is left out";
}

TEST(TaskTable, ASettingOfAnotherTaskIsRefused) {
  ToyScene scene("toy_settings");
  TrainOptions o = scene.training("run");
  o.task.given = {{"noise", {"segmentation", "halves"}}};
  o.steps = 1;
  run_train(o, scene.progress, scene.tasks);
  o.task.given.push_back({"mirror", {"detection"}});
  expect_error(ErrorKind::kUsage, "only detection has {mirror}", [&] { run_train(o, scene.progress, scene.tasks); });
}

TEST(TaskTable, AModelWithoutATaskIsNamed) {
  ToyScene scene("toy_model");
  expect_error(ErrorKind::kConfig, "retinanet", [&] { task_of(scene.tasks, retinanet_spec({})); });
}

}  // namespace
}  // namespace voxshard
