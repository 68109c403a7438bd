// A format of boxes that only tests/ defines works in all commands, by the table that the task is given.
#include "tests/io/boxes/toy_boxes.h"
#include "pipelines/commands/run_evaluate.h"
#include "pipelines/commands/run_info.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/detection/dataset/detection_dataset.h"
#include "pipelines/tasks/detection/detection.h"
#include "tests/pipelines/tasks/detection/images_scene.h"

namespace voxshard {
namespace {

TEST(ToyBoxes, PassThroughInfoTrainPredictAndEvaluate) {
  ImagesScene scene("toy_boxes");
  const DetectionDataset coco = read_detection_dataset(scene.annotations());
  std::filesystem::create_directories(scene.path("toys"));
  std::ofstream list(scene.path("toys/cells.toyboxes"));
  for (const DetectionImage& image : coco.images) {
    std::filesystem::copy_file(image.file, scene.path("toys") / image.file.filename());
    for (const TrueBox& b : image.boxes)
      list << image.file.filename().string() << " " << coco.classes[b.category].name << " " << b.box.x << " " << b.box.y
           << " " << b.box.width << " " << b.box.height << "\n";
  }
  list.close();
  const TaskTable tasks = {detection(with_toy_boxes())};

  const auto info = to_json(run_info({scene.path("toys")}, {}, tasks));
  EXPECT_EQ(info.at("detection_sets").at(0).at("boxes"), coco.boxes());
  EXPECT_TRUE(annotations_in(scene.path("toys")).empty()) << "nobody else knows the format";

  TrainOptions train = scene.options("run");
  train.work = scene.path("toys"), train.steps = 1;
  EXPECT_EQ(run_train(train, scene.progress, tasks).train_cases, 5);

  const auto list_path = scene.path("toys/cells.toyboxes"), found = scene.path("found.json");
  const PredictReport predicted =
      run_predict({.run = train.run, .input = list_path, .output = found}, scene.progress, tasks);
  EXPECT_EQ(predicted.cases.size(), coco.images.size());
  const TaskReport scores = run_evaluate({.predictions = found, .references = list_path}, scene.progress, tasks);
  EXPECT_EQ(scores.json.at("images"), coco.images.size());
  EXPECT_EQ(scores.json.at("boxes"), coco.boxes());
}

}  // namespace
}  // namespace voxshard
