// metrics.jsonl: lines are read as they were written, up to a torn tail; numbers of others stay within bounds.
#include "pipelines/model_runs/run_metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "io/files/json_lines.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

StepMetrics step_of(std::int64_t step, double seconds = 0.5) {
  return {.step = step, .loss = 2.5, .gradient_norm = 1, .learning_rate = 0.01, .seconds = seconds, .time_s = 1e9};
}

ValidationMetrics validation_of(std::int64_t step) {
  return {.step = step, .metric = "dice", .score = 0.25, .by_class = {0.5, kNaN}, .seconds = 3, .time_s = 1e9};
}

TEST(RunMetrics, LinesAreReadAsTheyWereWritten) {
  StepMetrics step = step_of(7);
  step.gradient_norm = std::numeric_limits<double>::infinity();
  const auto line = nlohmann::json::parse(json_line(to_json(step)));
  const auto read = step_metrics(line);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->step, 7);
  EXPECT_EQ(read->loss, 2.5);
  EXPECT_TRUE(std::isnan(read->gradient_norm)) << "JSON has no infinity";
  EXPECT_FALSE(validation_metrics(line));
  ValidationMetrics validation = validation_of(7);
  validation.averaged = 0.75;
  const auto other = nlohmann::json::parse(json_line(to_json(validation)));
  const auto again = validation_metrics(other);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->metric, "dice");
  EXPECT_EQ(again->by_class.at(0), 0.5);
  EXPECT_TRUE(std::isnan(again->by_class.at(1)));
  EXPECT_EQ(again->averaged, 0.75);
  EXPECT_FALSE(step_metrics(other));
}

TEST(RunMetrics, NumbersBeyondTheirRangeAreNoMetrics) {
  const std::string good = json_line(to_json(step_of(7)));
  ASSERT_TRUE(step_metrics(nlohmann::json::parse(good)));
  const auto with = [&](const std::string& key, const std::string& value) {
    nlohmann::json line = nlohmann::json::parse(good);
    line[key] = nlohmann::json::parse(value);
    return step_metrics(line);
  };
  for (const char* value : {"0", "-1", "1.5", "\"7\"", "null", "[]", "18446744073709551615", "1e30"})
    EXPECT_FALSE(with("step", value)) << value;
  for (const char* value : {"-1", "1e300", "null", "\"1\"", "{}"}) {
    EXPECT_FALSE(with("seconds", value)) << value;
    EXPECT_FALSE(with("time", value)) << value;
  }
  for (const char* value : {"\"1\"", "[1]", "true"}) EXPECT_FALSE(with("loss", value)) << value;
}

TEST(RunMetrics, TheEndOfARunIsReadUpToItsLastWholeLine) {
  const ScratchFolder run("run_metrics");
  EXPECT_FALSE(read_recent_metrics(run.path()).last) << "there is no file";
  std::string text;
  for (std::int64_t step = 1; step <= 100; ++step) {
    text += json_line(to_json(step_of(step, step <= 50 ? 9 : 0.5)));
    if (step % 50 == 0) text += json_line(to_json(validation_of(step)));
  }
  const std::string next = json_line(to_json(step_of(101)));
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, next.size() - 1, next.size()}) {
    run.write(kMetricsName, text + next.substr(0, bytes));
    const RecentMetrics recent = read_recent_metrics(run.path());
    const bool whole = bytes == next.size();
    ASSERT_TRUE(recent.last);
    EXPECT_EQ(recent.last->step, whole ? 101 : 100);
    EXPECT_EQ(recent.torn, bytes > 0 && !whole);
    EXPECT_EQ(recent.validation.value().step, 100);
    EXPECT_EQ(recent.step_s, 0.5) << "of the last 50";
    EXPECT_DOUBLE_EQ(recent.validation_s, 6.0 / (whole ? 101 : 100));
    EXPECT_DOUBLE_EQ(recent.seconds_of(10).value(), 10 * (0.5 + recent.validation_s));
  }
}

TEST(RunMetrics, OfALongRunTheEndIsRead) {
  const ScratchFolder run("run_metrics_long");
  std::string text;
  std::int64_t step = 0;
  while (text.size() < (std::size_t{5} << 20)) text += json_line(to_json(step_of(++step)));
  run.write(kMetricsName, text);
  const RecentMetrics recent = read_recent_metrics(run.path());
  EXPECT_EQ(recent.last.value().step, step);
  EXPECT_EQ(recent.damaged, 0) << "the line at which reading begins is left out as a whole";
}

TEST(RunMetrics, OtherLinesAreCounted) {
  const ScratchFolder run("run_metrics_other");
  run.write(kMetricsName, "{}\nx\n" + json_line(to_json(step_of(3))) + "{\"step\":4}\n");
  const RecentMetrics recent = read_recent_metrics(run.path());
  EXPECT_EQ(recent.last.value().step, 3);
  EXPECT_EQ(recent.damaged, 3);
}

}  // namespace
}  // namespace voxshard
