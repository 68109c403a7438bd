// Small films in a temporary folder, dark and bright, and a run of a toy model that distinguishes them: for the tests
// of time lines.
//
//   FilmScene scene("films");
//   scene.film("mixed.mkv", {{20, kDark}, {20, kBright}});        // at 25 frames a second
//   scene.train();
#pragma once

#include "io/video/video_writer.h"
#include "pipelines/commands/run_predict.h"
#include "pipelines/tasks/classification/class_task.h"
#include "pipelines/tasks/classification/predict_classes.h"
#include "pipelines/tasks/classification/scores/class_predictions.h"
#include "tests/pipelines/tasks/classification/class_scene.h"
#include "tests/pipelines/tasks/classification/toy_classifier.h"

namespace voxshard {

inline constexpr int kDark = 40, kBright = 210;

struct Take {
  std::int64_t frames = 0;
  int level = kDark;
};

struct FilmScene : ClassScene {
  using ClassScene::ClassScene;

  /// Writes a film. Frame k is shown k / 25 s after the first.
  std::filesystem::path film(const std::string& name, const std::vector<Take>& takes, std::int64_t height = 16,
                             std::int64_t width = 20) const {
    std::filesystem::create_directories(path(name).parent_path());
    VideoWriter out(path(name), {.width = width, .height = height, .time_base = {1, 25}});
    Tensor rgb(DType::kU8, {height, width, 3});
    std::int64_t number = 0;
    for (const Take& take : takes)
      for (std::int64_t f = 0; f < take.frames; ++f, ++number) {
        for (std::int64_t i = 0; i < rgb.count(); ++i)
          rgb.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(take.level + (i / 3 * 7 + number * 11) % 24);
        out.write(rgb, number);
      }
    out.close();
    return path(name);
  }

  /// Trains on clips of 4 frames, every `stride`-th frame of the films, resized to 16 x 16.
  void train(std::int64_t stride = 2) {
    for (const char* part : {"data/train/", "data/test/"})
      for (int i = 0; i < (part[5] == 't' && part[6] == 'r' ? 3 : 2); ++i)
        for (const bool bright : {false, true})
          film(std::string(part) + (bright ? "bright/" : "dark/") + std::to_string(i) + ".mkv",
               {{16, (bright ? kBright : kDark) + 5 * i}});
    run_train(training("run", stride), progress);
  }
  TrainOptions training(const std::string& run, std::int64_t stride = 2) const {
    TrainOptions o{.work = data(), .run = path(run), .steps = 60, .batch = 4, .resources = {.threads = 2}};
    o.spec = usual_spec(test::toy_classifier(3));
    o.spec.precision = DType::kF32, o.optimizer.learning_rate = 0.05;
    ClassTaskOptions& classes = o.task.of<ClassTaskOptions>();
    classes.clip_length = 4, classes.clip_stride = stride, classes.fit = "resize", classes.size = {16, 16};
    return o;
  }
  PredictOptions options(const std::filesystem::path& input, const std::string& name = "found.json") const {
    return {.run = path("run"), .input = input, .output = path(name), .models = test::with_toys()};
  }
  static ClassPredictionOptions& own(PredictOptions& o) { return o.task.of<ClassPredictionOptions>(); }
  PredictReport predict(const PredictOptions& o, const RunResources& resources = {.threads = 2}) {
    return run_predict(o, {progress, resources});
  }
  ClassPredictions found(const std::string& name = "found.json") const { return read_class_predictions(path(name)); }
};

/// One run for all tests: predicting does not change it.
class TrainedFilms : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    trained_ = new FilmScene("clips_trained");
    trained_->train();
  }
  static void TearDownTestSuite() {
    delete trained_;
    trained_ = nullptr;
  }
  TrainedFilms() : scene_(std::string("clips_") + testing::UnitTest::GetInstance()->current_test_info()->name()) {}

  PredictOptions options(const std::filesystem::path& input, const std::string& name = "found.json") const {
    PredictOptions o = scene_.options(input, name);
    o.run = trained_->path("run");
    return o;
  }
  PredictReport predict(PredictOptions o, std::optional<std::int64_t> hop = {}, const std::filesystem::path& draw = {},
                        const RunResources& resources = {.threads = 2}) {
    FilmScene::own(o).hop = hop, FilmScene::own(o).draw = draw;
    return scene_.predict(o, resources);
  }

  inline static FilmScene* trained_ = nullptr;
  FilmScene scene_;
};

}  // namespace voxshard
