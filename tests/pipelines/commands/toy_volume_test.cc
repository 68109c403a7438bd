// A volume format from outside goes through every command that is handed its table.
#include "pipelines/commands/run_info.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"
#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"
#include "tests/io/volume/toy_format.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

/// The demo's data set and a run of one step on it; the same data set with all its volumes as .toy in "toys".
struct ToyScene : TrainingScene {
  explicit ToyScene(const std::string& name) : TrainingScene(name) {
    Dataset d = read_dataset(data());
    d.folder = path("toys"), d.file_ending = ".toy";
    for (const char* part : {"imagesTr", "labelsTr", "imagesTs"}) std::filesystem::create_directories(d.folder / part);
    const auto moved = [&](const std::filesystem::path& file, const char* part, DType dtype) {
      const auto to = d.folder / part / (*volume_stem(file) + ".toy");
      write_volume(to, dtype == DType::kI32 ? read_label(file) : read_image(file), DiskType::kF32, with_toy());
      return to;
    };
    for (Case& c : d.training) {
      c.images = {moved(c.images[0], "imagesTr", DType::kF32)};
      c.label = moved(*c.label, "labelsTr", DType::kI32);
    }
    d.test.clear();
    write_dataset_json(d);
  }
};

TEST(ToyVolumes, PassThroughInfoPreparePredictAndEvaluate) {
  ToyScene scene("toy_volumes");
  const VolumeFormats formats = with_toy();
  const InfoReport info = run_info({scene.path("toys")}, {.formats = formats});
  EXPECT_TRUE(info.failures.empty());
  ASSERT_EQ(info.folders.json.at(0).at("images"), 2);
  EXPECT_EQ(run_info({scene.path("toys")}).failures.size(), 2u) << "nobody else knows the format";

  EXPECT_EQ(prepare_dataset({.dataset = scene.path("toys"), .work = scene.path("toy_work"), .formats = formats},
                            scene.progress)
                .prepared,
            2);

  TrainOptions train = scene.options("run");
  train.steps = 1;
  run_train(train, scene.progress);
  const PredictReport predicted = run_predict(
      {.run = scene.path("run"), .input = scene.path("toys/imagesTr"), .output = scene.path("out"), .formats = formats},
      scene.progress);
  EXPECT_EQ(predicted.cases.size(), 2u);
  EXPECT_TRUE(predicted.failures.empty());

  EvaluateLabelsOptions evaluate;
  evaluate.predictions = scene.path("out"), evaluate.references = scene.path("toys/labelsTr");
  evaluate.dataset = scene.path("toys"), evaluate.formats = formats;
  const LabelScores scores = evaluate_labels(evaluate, scene.progress);
  EXPECT_EQ(scores.cases.size(), 2u);
  EXPECT_TRUE(scores.failures.empty());
}

}  // namespace
}  // namespace voxshard
