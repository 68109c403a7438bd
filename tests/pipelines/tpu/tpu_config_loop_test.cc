// iterations_per_loop in a training run: when control returns to the host, what waits for that, and what does not
// depend on it.
#include "pipelines/tpu/tpu_config_loop.h"

#include <atomic>
#include <sstream>

#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

/// Records the steps at which control returned to the host, after the one at which it began.
struct Looks : RecordingProgress {
  void update(std::string_view stage, std::int64_t done, std::int64_t, std::string_view) override {
    if (stage == "train" && std::exchange(begun, true)) steps.push_back(done);
  }
  std::vector<std::int64_t> steps;
  bool begun = false;
};

TEST(IterationsPerLoop, EndsAfterItsStepsOrItsTime) {
  const IterationsPerLoop steps = iterations_per_loop_from_text("3"), time = iterations_per_loop_from_text("2m");
  EXPECT_FALSE(steps.ends(2, 1e9));
  EXPECT_TRUE(steps.ends(3, 0));
  EXPECT_FALSE(time.ends(1'000'000, 119.9));
  EXPECT_TRUE(time.ends(1, 120));
  EXPECT_TRUE(IterationsPerLoop{}.ends(1, 0)) << "every step, unless told";
  EXPECT_EQ(steps.begin_of(7), 6);
  EXPECT_EQ(steps.begin_of(6), 6);
  EXPECT_EQ(time.begin_of(7), 7);
}

TEST(IterationsPerLoop, ComesBackFromText) {
  for (const char* text : {"1", "40", "3600s"}) EXPECT_EQ(to_text(iterations_per_loop_from_text(text)), text);
  EXPECT_EQ(to_text(iterations_per_loop_from_text("2h")), "7200s");
}

TEST(IsDue, WhereAMultipleLiesBetween) {
  EXPECT_TRUE(is_due(0, 5, 5));
  EXPECT_TRUE(is_due(4, 6, 5));
  EXPECT_TRUE(is_due(4, 17, 5));
  EXPECT_FALSE(is_due(5, 9, 5));
  EXPECT_FALSE(is_due(0, 100, 0));
}

TEST(TrainLoop, LooksAtTheEndOfEachLoopAndTheLastOneIsCutOff) {
  TrainingScene scene("loop");
  const std::vector<std::pair<std::string, std::vector<std::int64_t>>> expected = {
      {"1", {1, 2, 3, 4, 5}}, {"2", {2, 4, 5}}, {"40", {5}}, {"1h", {5}}};
  std::string bytes;
  for (const auto& [text, steps] : expected) {
    TrainOptions o = scene.options("run" + text);
    o.iterations_per_loop = iterations_per_loop_from_text(text);
    Looks looks;
    EXPECT_EQ(run_train(o, looks).steps, 5);
    EXPECT_EQ(looks.steps, steps) << text;
    if (bytes.empty()) bytes = scene.last_bytes("run" + text);
    EXPECT_EQ(scene.last_bytes("run" + text), bytes) << "the loop changes no weight";
    const std::string results = Scene::bytes_of(scene.path("run" + text) / "results.csv");
    EXPECT_EQ(std::count(results.begin(), results.end(), '\n'), 6) << "a row per step all the same";
  }
}

TEST(TrainLoop, WhatIsDueInsideALoopWaitsForItsEnd) {
  TrainingScene scene("due", 3);
  TrainOptions o = scene.options("run");
  volumes(o).fold = "0", o.steps = 6, o.validate_every = 2, o.iterations_per_loop.steps = 3;
  run_train(o, scene.progress);
  std::istringstream rows(Scene::bytes_of(scene.path("run") / "results.csv"));
  std::string row, validated;
  std::getline(rows, row);
  for (int step = 1; std::getline(rows, row); ++step)
    if (!row.ends_with(",") && !row.ends_with("nan")) validated += std::to_string(step) + " ";
  EXPECT_EQ(validated, "3 6 ");
}

/// The run dies at the end of step 6, as by a kill, if control returns to the host there.
TEST(TrainLoop, ACheckpointDueInsideALoopIsWrittenAtItsEnd) {
  TrainingScene scene("checkpoint");
  TrainOptions o = scene.options("run");
  o.steps = 8, o.checkpoint_every = 2, o.iterations_per_loop.steps = 3;
  StoppingProgress killed(6, true);
  EXPECT_THROW(run_train(o, killed), std::runtime_error);
  o.resume = true;
  Looks looks;
  run_train(o, looks);
  EXPECT_EQ(looks.steps, (std::vector<std::int64_t>{8})) << "goes on from step 6";
}

/// Asks to stop when the samples of the step after `step` are requested, in the middle of a loop.
struct StopsBetween : RecordingProgress {
  explicit StopsBetween(std::int64_t step) : step_(step) {}
  bool stop_requested() const override { return asked_++ > step_; }

 private:
  std::int64_t step_;
  mutable std::atomic<std::int64_t> asked_{0};
};

std::string without_seconds(const std::filesystem::path& csv) {
  std::istringstream rows(Scene::bytes_of(csv));
  std::string text;
  for (std::string row; std::getline(rows, row);) {
    std::vector<std::string> fields;
    std::istringstream in(row);
    for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
    if (fields.size() > 4) fields.erase(fields.begin() + 4);
    for (const std::string& field : fields) text += field + ",";
    text += "\n";
  }
  return text;
}

/// A run may be stopped after any number of steps, also inside of a loop: the last whole step is saved, and the resumed
/// run returns to the host, validates and saves where the undisturbed one does.
TEST(TrainLoop, ARunThatWasStoppedInsideALoopGoesOnAsIfItWereNot) {
  TrainingScene scene("inside", 3);
  const auto options = [&](const std::string& run) {
    TrainOptions o = scene.options(run);
    volumes(o).fold = "0", o.steps = 9, o.validate_every = 2, o.checkpoint_every = 3, o.iterations_per_loop.steps = 4;
    return o;
  };
  Looks undisturbed;
  const TrainReport whole = run_train(options("whole"), undisturbed);
  EXPECT_EQ(undisturbed.steps, (std::vector<std::int64_t>{4, 8, 9}));
  EXPECT_EQ(whole.loops, 3);
  for (const std::int64_t step : {1, 7, 40}) {
    const std::string run = "stopped" + std::to_string(step);
    TrainOptions o = options(run);
    StopsBetween stops(step);
    ASSERT_TRUE(run_train(o, stops).interrupted) << step;
    o.resume = true;
    const TrainReport report = run_train(o, scene.progress);
    EXPECT_EQ(report.steps, 9);
    EXPECT_EQ(report.best_score, whole.best_score) << step;
    EXPECT_EQ(scene.last_bytes(run), scene.last_bytes("whole")) << step;
    EXPECT_EQ(without_seconds(scene.path(run) / "results.csv"), without_seconds(scene.path("whole") / "results.csv"))
        << step;
  }
}

}  // namespace
}  // namespace voxshard
