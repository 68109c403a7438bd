// What a training writes for those who watch it: the same lines for the same run, however often it was stopped or
// killed, and the same numbers in TensorBoard's event file, read by an independent program.
#include "pipelines/training/metrics_log.h"

#include <algorithm>

#include "io/files/json_lines.h"
#include "io/records/event_file.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

/// Returns the lines of a run without the clock.
std::vector<std::string> lines_of(const fs::path& run) {
  std::vector<std::string> all;
  JsonLines lines(run / kMetricsName);
  while (auto line = lines.next()) {
    EXPECT_GT(line->at("time").get<double>(), 1.6e9);
    line->erase("time"), line->erase("seconds");
    all.push_back(line->dump());
  }
  EXPECT_EQ(lines.damaged(), 0);
  EXPECT_FALSE(lines.torn());
  return all;
}

std::vector<fs::path> event_files_of(const fs::path& run) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(run))
    if (event_file_time(entry.path().filename().string()) >= 0) files.push_back(entry.path());
  return files;
}

/// Returns what events_by_hand.py reads of the run's one event file: lists of step, time, tag and value.
nlohmann::json events_of(const fs::path& run) {
  const std::vector<fs::path> files = event_files_of(run);
  EXPECT_EQ(files.size(), 1u);
  const ScratchFolder scratch("events");
  const std::string command = "python3 " VOXSHARD_SOURCE_DIR "/tests/pipelines/training/events_by_hand.py " +
                              files.at(0).string() + " > " + (scratch / "out.json");
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return nlohmann::json::parse(read_bytes(scratch.path() / "out.json"));
}

/// Expects in the event file the numbers of metrics.jsonl, as f32, in their order.
void expect_events_of_lines(const fs::path& run) {
  nlohmann::json expected = nlohmann::json::array();
  JsonLines lines(run / kMetricsName);
  while (const auto line = lines.next()) {
    const auto add = [&](const std::string& tag, const nlohmann::json& value) {
      expected.push_back({line->at("step"), line->at("time"), tag, static_cast<double>(value.get<float>())});
    };
    if (line->contains("validation")) {
      const std::string tag = "validation/" + line->at("validation").get<std::string>();
      add(tag, line->at("score"));
      int number = 0;
      for (const auto& score : line->at("by_class")) add(tag + "_class_" + std::to_string(++number), score);
    } else {
      for (const char* name : {"loss", "gradient_norm", "learning_rate"})
        add(std::string("train/") + name, line->at(name));
    }
  }
  EXPECT_EQ(events_of(run), expected);
}

TEST(MetricsLog, AStoppedOrKilledRunHasTheLinesAndEventsOfAnUndisturbedOne) {
  TrainingScene scene("metrics");
  TrainOptions o = scene.options("whole");
  volumes(o).fold = "0", o.steps = 7, o.checkpoint_every = 2, o.validate_every = 3;
  run_train(o, scene.progress);
  const std::vector<std::string> whole = lines_of(o.run);
  ASSERT_EQ(whole.size(), 10u) << "7 steps, 3 validations";
  EXPECT_NE(whole.at(2).find("\"step\":3"), std::string::npos);
  EXPECT_NE(whole.at(3).find("\"validation\":\"dice\""), std::string::npos);
  expect_events_of_lines(o.run);
  for (const bool die : {false, true}) {
    o.run = scene.path(die ? "killed" : "stopped"), o.resume = false;
    StoppingProgress stopping(5, die);
    if (die) {
      EXPECT_THROW(run_train(o, stopping), std::runtime_error);
    } else {
      EXPECT_TRUE(run_train(o, stopping).interrupted);
    }
    EXPECT_EQ(lines_of(o.run), std::vector(whole.begin(), whole.begin() + 6)) << "5 steps, 1 validation";
    std::ofstream(o.run / kMetricsName, std::ios::app) << "{\"step\":6,\"lo";  // torn by a kill
    o.resume = true;
    run_train(o, scene.progress);
    EXPECT_EQ(lines_of(o.run), whole);
    expect_events_of_lines(o.run);
  }
}

TEST(MetricsLog, AValidationThatIsDoneAgainStandsOnce) {
  const ScratchFolder run("metrics_again");
  const ValidationMetrics validation{.step = 2, .metric = "dice", .score = 0.5, .by_class = {}};
  {
    MetricsLog log(run.path(), {});
    for (const std::int64_t step : {1, 2, 3}) {
      log.add(StepMetrics{.step = step});
      if (step == 2) log.add(validation);
    }
  }
  const fs::path first = event_files_of(run.path()).at(0);
  MetricsLog log(run.path(), {.steps_done = 2, .validates_again = true});
  EXPECT_EQ(lines_of(run.path()).size(), 2u);
  log.add(validation);
  EXPECT_EQ(lines_of(run.path()).size(), 3u);
  EXPECT_GT(event_files_of(run.path()).at(0), first) << "TensorBoard reads the files in the order of their names";
  expect_events_of_lines(run.path());
  MetricsLog(run.path(), {.steps_done = 2});
  EXPECT_EQ(lines_of(run.path()).size(), 3u) << "that validation has ended";
}

TEST(MetricsLog, ARunThatBeginsAnewHasNothingOfTheOneBefore) {
  TrainingScene scene("metrics_anew");
  TrainOptions o = scene.options("run");
  run_train(o, scene.progress);
  EXPECT_EQ(lines_of(o.run).size(), 5u);
  o.steps = 2, o.restart = true;
  run_train(o, scene.progress);
  EXPECT_EQ(lines_of(o.run).size(), 2u);
  expect_events_of_lines(o.run);
}

}  // namespace
}  // namespace voxshard
