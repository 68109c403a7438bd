// A kind of data sets that only tests/ defines works in all commands, by the table that the task is given.
#include "tests/pipelines/tasks/classification/toy_kind.h"

#include "pipelines/commands/run_evaluate.h"
#include "pipelines/commands/run_info.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/classification/classification.h"
#include "tests/pipelines/tasks/classification/class_scene.h"
#include "tests/pipelines/tasks/classification/toy_classifier.h"

namespace voxshard {
namespace {

TEST(ToyKind, PassesThroughInfoTrainPredictAndEvaluate) {
  ClassScene scene("toy_kind");
  std::string lines;
  for (int i = 0; i < 8; ++i) lines += "dark " + std::to_string(20 + i) + "\nbright " + std::to_string(210 + i) + "\n";
  scene.write("toys/train.toy", lines);
  scene.write("toys/test.toy", "dark 40\nbright 230\nbright 200\n");
  const std::filesystem::path data = scene.path("toys");
  const TaskTable tasks = {classification(test::with_toy_kind())};

  const InfoReport info = run_info({data}, {}, tasks);
  const auto set = to_json(info).at("class_sets").at(0);
  EXPECT_EQ(set.at("parts").at(0).at("kind"), "toys");
  EXPECT_EQ(set.at("parts").at(0).at("items"), 16);
  EXPECT_EQ(info.next.at(5), "digits");
  EXPECT_FALSE(find_class_parts(data).any()) << "nobody else knows the kind";

  TrainOptions train{.work = data, .run = scene.path("run"), .steps = 40, .batch = 4, .resources = {.threads = 2}};
  train.spec = usual_spec(test::toy_classifier(2));
  train.spec.precision = DType::kF32;
  train.optimizer.learning_rate = 0.05;
  const TrainReport trained = run_train(train, scene.progress, tasks);
  EXPECT_EQ(trained.train_cases, 16);
  EXPECT_EQ(trained.validation_cases, 3);
  EXPECT_EQ(trained.validation->score, 1.0);

  const std::filesystem::path found = scene.path("found.json");
  const PredictReport predicted = run_predict(
      {.run = train.run, .input = data, .output = found, .models = {test::toy_classifier(2)}}, scene.progress, tasks);
  EXPECT_EQ(predicted.cases.size(), 3u) << "those of the part that tests";
  const TaskReport scores = run_evaluate({.predictions = found, .references = data}, scene.progress, tasks);
  EXPECT_EQ(scores.json.at("items"), 3);
  EXPECT_EQ(scores.json.at("accuracy"), 1.0);
}

TEST(ToyKind, IsNamedWhereNothingIsFound) {
  ClassScene scene("toy_kind_none");
  scene.write("flat/a.txt", "nothing");
  expect_error(ErrorKind::kInput, "a CSV of file,class, MNIST's IDX files, or a toy list",
               [&] { read_class_sets({.data = scene.path("flat"), .reading = {.kinds = test::with_toy_kind()}}); });
  expect_error(ErrorKind::kInput,
               "expected a folder per class with DICOM series or archives of them, the same in train and val or test, "
               "a folder per class with "
               "pictures, volumes or videos, the same in train and val or test, a CSV of file,class, or MNIST's IDX "
               "files",
               [&] { read_class_sets({.data = scene.path("flat")}); });
}

}  // namespace
}  // namespace voxshard
