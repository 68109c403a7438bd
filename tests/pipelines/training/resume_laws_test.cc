// Laws of every task: a run that was stopped or killed resumes to the bytes of an undisturbed one, with the settings
// that it began with, and names the changes of its data; another cut computes the same, several ranks the same bytes.
#include <atomic>

#include "io/files/config_file.h"
#include "pipelines/model_runs/checkpoint.h"
#include "tests/pipelines/training/task_scenes.h"
#include "tests/ranks/mailbox.h"

namespace voxshard {
namespace {

class ResumeLaws : public testing::TestWithParam<TaskScene> {};

/// Returns the rows of results.csv without the seconds, the only clock in it.
std::vector<std::string> rows_without_clock(const TaskRun& run, const std::string& name) {
  std::istringstream rows(run.bytes(name + "/results.csv"));
  std::vector<std::string> kept;
  for (std::string row; std::getline(rows, row);) {
    std::istringstream fields(row);
    std::string text, field;
    for (int i = 0; std::getline(fields, field, ','); ++i) text += i == 4 ? "," : field + ",";
    kept.push_back(text);
  }
  return kept;
}

/// Returns the lines of metrics.jsonl without the clock.
std::vector<std::string> metrics_without_clock(const TaskRun& run, const std::string& name) {
  std::istringstream rows(run.bytes(name + "/metrics.jsonl"));
  std::vector<std::string> kept;
  for (std::string row; std::getline(rows, row);) kept.push_back(row.substr(0, row.find("\"seconds\"")));
  return kept;
}

void expect_the_same_run(const TaskRun& run, const std::string& name, const std::string& whole) {
  EXPECT_TRUE(run.scene->last_bytes(name) == run.scene->last_bytes(whole)) << name;
  EXPECT_TRUE(run.bytes(name + "/checkpoints/best.safetensors") == run.bytes(whole + "/checkpoints/best.safetensors"))
      << name;
  EXPECT_EQ(rows_without_clock(run, name), rows_without_clock(run, whole)) << name;
  EXPECT_EQ(metrics_without_clock(run, name), metrics_without_clock(run, whole)) << name;
}

TEST_P(ResumeLaws, StoppedOrKilledAndResumedGivesTheBytesOfAnUndisturbedRun) {
  TaskRun run(GetParam(), "resume");
  TrainOptions o = run.options("whole");
  o.steps = 7, o.checkpoint_every = 2, o.validate_every = 3;
  run_train(o, run.progress);
  EXPECT_EQ(rows_without_clock(run, "whole").size(), 8u);
  for (const bool die : {false, true}) {  // asked to stop, or killed between two checkpoints
    const std::string name = die ? "killed" : "stopped";
    o.run = run.scene->path(name), o.resume = false, o.resources.threads = 2;
    StoppingProgress stopping(5, die);
    if (die) {
      EXPECT_THROW(run_train(o, stopping), std::runtime_error);
    } else {
      EXPECT_TRUE(run_train(o, stopping).interrupted);
    }
    EXPECT_EQ(load_checkpoint(o.run / "checkpoints/last.safetensors").state.step, die ? 4 : 5);
    o.resume = true, o.resources.threads = 1;
    EXPECT_FALSE(run_train(o, run.progress).interrupted);
    expect_the_same_run(run, name, "whole");
  }
}

TEST_P(ResumeLaws, AnotherSettingIsRefusedByName) {
  TaskRun run(GetParam(), "settings");
  TrainOptions o = run.options("run");
  o.steps = 2;
  run_train(o, run.progress);
  o.resume = true, o.steps = 3;
  std::vector<OtherSetting> others = {{"/training/learning_rate", [](auto& t) { t.optimizer.learning_rate = 0.5; }},
                                      {"/training/", [](auto& t) { t.seed = 9; }},  // and what is drawn with it
                                      {"{steps} 2 ends the run where it is", [](auto& t) { t.steps = 1; }}};
  others.insert(others.end(), GetParam().others.begin(), GetParam().others.end());
  const std::string before = run.scene->last_bytes("run");
  for (const OtherSetting& other : others) {
    TrainOptions changed = o;
    other.change(changed);
    expect_error(ErrorKind::kCheckpoint, other.refusal, [&] { run_train(changed, run.progress); });
    EXPECT_TRUE(run.scene->last_bytes("run") == before);
  }
}

TEST_P(ResumeLaws, ARunEndsWithFewerStepsThanItBeganWithAndIsValidatedThere) {
  TaskRun run(GetParam(), "shorter");
  TrainOptions o = run.options("run");
  o.steps = 9, o.checkpoint_every = 2;
  StoppingProgress stopping(3, false);
  EXPECT_TRUE(run_train(o, stopping).interrupted);
  o.resume = true, o.steps = 5;
  StoppingProgress again(4, false);
  EXPECT_TRUE(run_train(o, again).interrupted);
  o.steps = 4;
  const TrainReport ended = run_train(o, run.progress);
  EXPECT_FALSE(ended.interrupted);
  EXPECT_EQ(ended.steps, 4);
  EXPECT_GT(ended.loss, 0) << "of the last step, which an earlier call did";
  EXPECT_EQ(ended.validation.has_value(), ended.validation_cases > 0);
  EXPECT_EQ(std::filesystem::exists(o.run / "checkpoints/best.safetensors"), ended.validation_cases > 0);
  const auto record = read_json(o.run / "run.json");
  EXPECT_EQ(record.at("report").at("interrupted"), false);
  EXPECT_EQ(record.at("training").at("steps"), 4);
  EXPECT_EQ(load_checkpoint(o.run / "checkpoints/last.safetensors").state.training.at("steps"), 4);
}

TEST_P(ResumeLaws, ChangedDataAreNamedAndPutBackTheRunGoesOn) {
  TaskRun run(GetParam(), "changed");
  TrainOptions o = run.options("run");
  o.steps = 1;
  run_train(o, run.progress);
  o.resume = true, o.steps = 2;
  for (const DataEdit& edit : GetParam().edits) {
    const auto file = run.scene->path(edit.file);
    const std::string bytes = Scene::bytes_of(file);
    const bool is_new = !std::filesystem::exists(file);
    const auto time = is_new ? std::filesystem::file_time_type() : std::filesystem::last_write_time(file);
    std::ofstream(file, std::ios::binary) << edit.make(bytes);
    if (edit.keeps_time) std::filesystem::last_write_time(file, time);
    if (!edit.refusal.empty() || is_new) {
      expect_error(edit.kind, edit.refusal, [&] { run_train(o, run.progress); });
    } else {
      EXPECT_EQ(run_train(o, run.progress).steps, o.steps) << "written otherwise, but the same";
      ++o.steps;
    }
    if (is_new) {
      std::filesystem::remove(file);
    } else {
      std::ofstream(file, std::ios::binary) << bytes;
      std::filesystem::last_write_time(file, time);
    }
  }
  EXPECT_EQ(run_train(o, run.progress).steps, o.steps);
}

struct StagesProgress : RecordingProgress {
  explicit StagesProgress(std::string stop_in = "-") : stop_in_(std::move(stop_in)) {}
  void update(std::string_view stage, std::int64_t, std::int64_t, std::string_view) override {
    stages.emplace(stage);
    stop = stop || stage == stop_in_;
  }
  std::set<std::string> stages;

 private:
  std::string stop_in_;
};

TEST_P(ResumeLaws, FilesAreReadForTheirHashesBeforeAStepAndAStopThereIsNoLoss) {
  TaskRun run(GetParam(), "hashes");
  TrainOptions o = run.options("run");
  o.resources.threads = 1, o.steps = 2;
  StagesProgress stopping("check data"), resumed;
  if (GetParam().hashes_first) {
    EXPECT_THROW(run_train(o, stopping), Stopped);
    EXPECT_TRUE(std::filesystem::exists(o.run / "run.json")) << "`train --resume RUN` reads the options of it";
  } else {
    run_train(o, stopping);
    EXPECT_FALSE(stopping.stages.contains("check data")) << "what `prepare` noted is taken";
  }
  o.resume = true, o.steps = 3;
  EXPECT_EQ(run_train(o, resumed).steps, 3);
  EXPECT_TRUE(resumed.stages.contains("check data"));
}

TEST_P(ResumeLaws, ThePartitionChangesNothingBeyondRounding) {
  TaskRun run(GetParam(), "partition");
  for (const bool cut : {false, true}) {
    TrainOptions o = run.options(cut ? "cut" : "whole");
    o.steps = 3, o.optimizer = {.kind = OptimizerKind::kSgd, .learning_rate = 1e-3};
    if (cut) o.spec.cut.mesh.partition = GetParam().cut;
    run_train(o, run.progress);
  }
  const Checkpoint whole = load_checkpoint(run.scene->last("whole")), cut = load_checkpoint(run.scene->last("cut"));
  for (const auto& [name, tensor] : whole.parameters) {
    const Difference d = compare(tensor.view(), cut.parameters.at(name).view());
    EXPECT_LE(d.max_abs, 1e-4 * std::max(1.0, d.max_magnitude)) << name;
  }
}

TEST_P(ResumeLaws, RanksGiveTheBytesOfOneProcess) {
  TaskRun run(GetParam(), "ranks");
  const auto cut = [&](const std::string& name) {
    TrainOptions o = run.options(name);
    o.steps = 3, o.spec.cut.mesh.partition = GetParam().cut;
    return o;
  };
  run_train(cut("alone"), run.progress);
  for (int ranks = 2; ranks <= 4; ++ranks) {
    const std::string name = std::to_string(ranks);
    test::Mailbox mailbox(ranks);
    test::run_valid_ranks(mailbox, [&](Transport& transport) {
      TrainOptions o = cut(name);
      o.resources.threads = 1, o.resources.transport = &transport;
      NoProgress quiet;
      run_train(o, quiet);
    });
    EXPECT_TRUE(run.scene->last_bytes(name) == run.scene->last_bytes("alone")) << ranks << " ranks";
  }
}

std::string name_of_scene(const testing::TestParamInfo<TaskScene>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Tasks, ResumeLaws, testing::ValuesIn(task_scenes()), name_of_scene);

/// Asks to stop after a validation has begun, at this query for a stop (0: the first).
struct StopInValidation : RecordingProgress {
  explicit StopInValidation(int questions) : left(questions) {}
  void update(std::string_view stage, std::int64_t, std::int64_t, std::string_view) override {
    if (stage == "validate") validating = true;
  }
  bool stop_requested() const override { return validating && left-- <= 0; }
  bool validating = false;
  mutable std::atomic<int> left;
};

class ValidationLaws : public testing::TestWithParam<TaskScene> {};

TEST_P(ValidationLaws, AStopWithinOneIsTakenUpByResumeToTheSameBytes) {
  TaskRun run(GetParam(), "validation");
  TrainOptions o = run.options("whole");
  o.steps = 4, o.validate_every = 2;
  run_train(o, run.progress);
  o.run = run.scene->path("stopped");
  for (const bool resumed : {false, true}) {  // the same validation twice
    o.resume = resumed;
    StopInValidation stopping(*GetParam().stop_in_validation);
    const TrainReport report = run_train(o, stopping);
    EXPECT_TRUE(report.interrupted);
    EXPECT_EQ(report.steps, 2);
    EXPECT_EQ(load_checkpoint(o.run / "checkpoints/last.safetensors").state.step, 2);
  }
  EXPECT_FALSE(run_train(o, run.progress).interrupted);
  expect_the_same_run(run, "stopped", "whole");
}

TEST_P(ValidationLaws, AStopWithinTheLastIsAnInterruption) {
  TaskRun run(GetParam(), "last_validation");
  TrainOptions o = run.options("run");
  o.steps = 2;
  StopInValidation stopping(*GetParam().stop_in_validation);
  EXPECT_TRUE(run_train(o, stopping).interrupted);
  o.resume = true;
  const TrainReport report = run_train(o, run.progress);
  EXPECT_FALSE(report.interrupted);
  EXPECT_EQ(report.steps, 2);
  ASSERT_TRUE(report.validation);
  EXPECT_TRUE(std::filesystem::exists(o.run / "checkpoints/best.safetensors"));
}

std::vector<TaskScene> scenes_with_validations() {
  std::vector<TaskScene> scenes = task_scenes();
  std::erase_if(scenes, [](const TaskScene& scene) { return !scene.stop_in_validation; });
  return scenes;
}

INSTANTIATE_TEST_SUITE_P(Tasks, ValidationLaws, testing::ValuesIn(scenes_with_validations()), name_of_scene);

}  // namespace
}  // namespace voxshard
