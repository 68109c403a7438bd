// Tiny demo data, prepared (once for many scenes: prepared_copy.h), and the options of a training run of a second, for
// the tests of train and predict.
//
//   TrainingScene scene("resume");                                  // 2 phantoms to train on, 1 held out, at 8 mm
//   run_train(scene.options("run"), scene.progress);
#pragma once

#include "pipelines/commands/run_demo.h"
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"
#include "pipelines/tasks/segmentation/volume_task.h"
#include "pipelines/training/run_train.h"
#include "tests/expect_error.h"
#include "tests/pipelines/pipeline_scene.h"
#include "tests/prepared_copy.h"

namespace voxshard {

inline VolumeTaskOptions& volumes(TrainOptions& options) { return options.task.of<VolumeTaskOptions>(); }

struct TrainingScene : Scene {
  explicit TrainingScene(const std::string& name, int cases = 2) : Scene(name) {
    copy_prepared("training_" + std::to_string(cases), data().parent_path(),
                  [cases](const std::filesystem::path& place) {
                    RecordingProgress own;
                    run_demo({.folder = place / "data", .cases = cases, .test_cases = 1, .threads = 2}, own);
                    prepare_dataset({.dataset = place / "data", .work = place / "work", .spacing = "8,8,8"},
                                    {own, {.threads = 2}});
                  });
  }

  TrainOptions options(const std::string& run) const {
    TrainOptions o{.work = work(), .run = path(run), .steps = 5, .resources = {.threads = 2}};
    volumes(o).fold = "all";
    o.spec.as<UNetConfig>() = {.base_filters = 4, .depth = 3};
    o.spec.precision = DType::kF32;
    volumes(o).sampling.crop = {16, 16, 16};
    volumes(o).sampling.flip = {true, true, true};
    return o;
  }
};

/// Asks to stop, or dies as a kill does, once `step` steps of a training, or pieces of another stage, are done.
struct StoppingProgress : RecordingProgress {
  StoppingProgress(std::int64_t step, bool die, std::string stage = "train")
      : step_(step), die_(die), stage_(std::move(stage)) {}
  void update(std::string_view stage, std::int64_t done, std::int64_t, std::string_view) override {
    if (stage != stage_ || done < step_) return;
    if (die_) throw std::runtime_error("killed");
    stop = true;
  }

 private:
  std::int64_t step_;
  bool die_;
  std::string stage_;
};

}  // namespace voxshard
