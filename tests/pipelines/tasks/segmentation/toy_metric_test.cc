// A metric that only tests/ defines is a row: training validates by it, evaluation, summary.json and texts show it.
#include <cmath>

#include "io/files/csv.h"
#include "pipelines/commands/run_evaluate.h"
#include "pipelines/tasks/segmentation/segmentation.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

/// Returns the share of a class's voxels that are missed, in hundredths.
double missed(const ClassCounts& c) {
  const double all = static_cast<double>(c.tp + c.fn);
  return all > 0 ? 100 * static_cast<double>(c.fn) / all : std::numeric_limits<double>::quiet_NaN();
}
const OverlapMetric kMissed = {.name = "Missed",
                               .key = "missed",
                               .unit = "%",
                               .rule = "100FN/(TP+FN)",
                               .higher_is_better = false,
                               .digits = 1,
                               .of = missed};

TEST(ToyMetric, ValidatesTrainingAndTheLowestIsTheBest) {
  TrainingScene scene("toy_metric_train", 4);
  const TaskTable tasks = {segmentation({kMissed})};
  TrainOptions o = scene.options("run");
  volumes(o).fold = "0";
  o.steps = 6, o.validate_every = 2;
  const TrainReport report = run_train(o, scene.progress, tasks);
  EXPECT_EQ(report.metric, "missed");
  EXPECT_EQ(report.to_json().at("best_missed"), report.best_score);
  std::vector<double> scores;
  const auto columns = read_csv(o.run / "results.csv", [&](const std::vector<std::string>& row) {
    if (const double score = std::stod(row.at(5)); std::isfinite(score)) scores.push_back(score);
  });
  ASSERT_GT(columns.size(), 6u);
  EXPECT_EQ(columns[5], "validation_missed");
  EXPECT_EQ(columns[6], "validation_missed_lungs");
  ASSERT_EQ(scores.size(), 3u);
  const auto [lowest, highest] = std::minmax_element(scores.begin(), scores.end());
  ASSERT_LT(*lowest, *highest);
  EXPECT_EQ(report.best_score, *lowest);
}

TEST(ToyMetric, IsShownWhereverTheOthersAre) {
  TrainingScene scene("toy_metric_evaluate");
  OverlapMetrics metrics = overlap_metrics();
  metrics.push_back(kMissed);
  const TaskTable tasks = {segmentation(metrics)};
  const std::filesystem::path labels = scene.data() / "labelsTr", summary = scene.path("summary.json");
  const TaskReport found =
      run_evaluate({.predictions = labels, .references = labels, .summary = summary}, scene.progress, tasks);
  EXPECT_EQ(found.json.at("mean_missed"), 0.0);
  EXPECT_EQ(found.json.at("mean_dice"), 1.0);
  EXPECT_EQ(found.json.at("classes").at(0).at("missed"), 0.0);
  EXPECT_EQ(found.json.at("cases").at(0).at("missed").size(), found.json.at("classes").size());
  EXPECT_THAT(found.json.at("rule").get<std::string>(),
              HasSubstr("Dice 2TP/(2TP+FP+FN), Missed 100FN/(TP+FN) per case"));
  EXPECT_THAT(found.text, HasSubstr("Missed (%)"));
  EXPECT_THAT(Scene::bytes_of(summary), HasSubstr("\"Missed\": 0.0"));
}

}  // namespace
}  // namespace voxshard
