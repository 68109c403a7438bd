// `evaluate` on several predictions and runs: each as it is alone, mean and spread, and folds as one set.
#include <gmock/gmock.h>

#include <cmath>

#include "pipelines/commands/run_evaluate.h"
#include "pipelines/commands/run_report.h"
#include "pipelines/engine/seen_inputs.h"
#include "pipelines/tasks/detection/dataset/image_places.h"
#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"
#include "pipelines/training/held_out.h"
#include "tests/pipelines/training/task_scenes.h"
#include "tests/ranks/mailbox.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using testing::HasSubstr;

/// Writes label maps of these cases, of which class 2 lacks its planes from `missing` on.
fs::path write_labels(const Scene& scene, const std::string& name, const std::vector<int>& cases, int missing) {
  const fs::path folder = scene.path(name);
  fs::create_directories(folder);
  for (const int i : cases) {
    const Volume label = Scene::make_label();
    for (std::int64_t k = std::int64_t{missing} * 120; k < label.voxels.count(); ++k)
      if (label.voxels.as<std::int32_t>()[k] == 2) label.voxels.as<std::int32_t>()[k] = 0;
    write_volume(folder / (Scene::id(i) + ".nii.gz"), label, DiskType::kU8);
  }
  return folder;
}

/// Lists the cases of a set that a prediction leaves out, as a run of a fold does.
void leave_out(const fs::path& folder, const std::vector<int>& cases) {
  SeenInputs seen{.inputs = 4};
  for (const int i : cases) seen.left_out.push_back(Scene::id(i));
  write_seen(folder, seen);
}

const Json& row_of(const Json& spread, const Json& scored, const std::string& metric) {
  for (const Json& row : spread)
    if (row.at("class") == scored && row.at("metric") == metric) return row;
  throw std::runtime_error("no row of " + scored.dump() + " " + metric);
}

TEST(EvaluateSeveral, MeanAndSpreadAreThoseOfTheScoresOfEachAlone) {
  Scene scene("several_seeds");
  scene.write_dataset(2);
  EvaluateOptions o{.predictions = write_labels(scene, "a", {0, 1}, 8),
                    .references = scene.data() / "labelsTr",
                    .summary = scene.path("out/scores.json"),
                    .further = {write_labels(scene, "b", {0, 1}, 7), write_labels(scene, "c", {0, 1}, 6)}};
  const TaskReport report = run_evaluate(o, scene.progress);
  EXPECT_FALSE(report.partial) << report.text;
  EXPECT_FALSE(report.json.contains("together")) << "every case is in each of them";
  // Of class 2 (80 voxels a plane in planes 6 and 7): all, half and nothing is found, with a Dice of 1, 2/3 and 0.
  const Json& two = row_of(report.json.at("spread"), "two", "dice");
  EXPECT_EQ(two.at("n"), 3);
  EXPECT_NEAR(two.at("mean").get<double>(), 5.0 / 9, 1e-12);
  EXPECT_NEAR(two.at("deviation").get<double>(), std::sqrt((16.0 / 81 + 1.0 / 81 + 25.0 / 81) / 2), 1e-12);
  EXPECT_NEAR(two.at("least").get<double>(), 0, 1e-12);
  EXPECT_NEAR(two.at("largest").get<double>(), 1, 1e-12);
  const Json& over = row_of(report.json.at("spread"), nullptr, "dice");
  for (std::size_t i = 0; i < 3; ++i) {
    const TaskReport alone = run_evaluate(
        {.predictions = i == 0 ? o.predictions : o.further[i - 1], .references = o.references}, scene.progress);
    EXPECT_EQ(over.at("values")[i], alone.json.at("mean_dice"));
    Json each = report.json.at("each")[i];
    each["memory"] = alone.json.at("memory");
    EXPECT_EQ(each, alone.json);
  }
  EXPECT_EQ(read_json(o.summary).at("spread"), nlohmann::json(report.json.at("spread")));
  const std::string csv = Scene::bytes_of(scene.path("out/scores.csv"));
  EXPECT_THAT(csv, HasSubstr("class,metric,n,mean,deviation,least,largest," + scene.path("a").string()));
  EXPECT_THAT(csv, HasSubstr("\ntwo,dice,3,0.5555555555"));
  EXPECT_THAT(report.text, HasSubstr("0.556"));
  EXPECT_NO_THROW(run_evaluate(o, scene.progress)) << "its own files are replaced";
}

TEST(EvaluateSeveral, OfClassesThatWereNotAnnotatedEverywhereBothRulesHaveASpread) {
  Scene scene("several_annotated");
  scene.write_dataset(2);
  scene.edit_dataset([](nlohmann::json& json) { json["annotated"][Scene::id(1)] = {"one"}; });
  for (const char* name : {"a", "b"}) write_labels(scene, name, {1}, 6);  // nothing of class 2: a Dice of 0
  EvaluateOptions o{.predictions = write_labels(scene, "a", {0}, 8),
                    .references = scene.data() / "labelsTr",
                    .further = {write_labels(scene, "b", {0}, 7)}};
  o.task.of<EvaluateLabelsOptions>().dataset = scene.data();
  const Json spread = run_evaluate(o, scene.progress).json.at("spread");
  const auto mean_of = [&](const Json& scored) { return row_of(spread, scored, "dice").at("mean").get<double>(); };
  EXPECT_NEAR(mean_of("two"), (1 + 2.0 / 3) / 2, 1e-12) << "of the first case alone";
  EXPECT_NEAR(mean_of("two, all cases"), (1.0 / 2 + 1.0 / 3) / 2, 1e-12);
  EXPECT_NEAR(mean_of(nullptr), (1 + 5.0 / 6) / 2, 1e-12);
  EXPECT_NEAR(mean_of("mean, all cases"), (3.0 / 4 + 2.0 / 3) / 2, 1e-12);
  EXPECT_ANY_THROW(row_of(spread, "one, all cases", "dice")) << "was annotated everywhere";
}

TEST(EvaluateSeveral, PredictionsThatShareNoCaseAreAlsoOneSet) {
  Scene scene("several_folds");
  scene.write_dataset(4);
  EvaluateOptions o{.predictions = write_labels(scene, "fold0", {0, 1, 2}, 7),
                    .references = scene.data() / "labelsTr",
                    .further = {write_labels(scene, "fold1", {3}, 6)}};
  leave_out(o.predictions, {3}), leave_out(o.further[0], {0, 1, 2});
  const TaskReport report = run_evaluate(o, scene.progress);
  EXPECT_FALSE(report.partial) << report.text;
  const Json& together = report.json.at("together");
  EXPECT_EQ(together.at("cases").size(), 4u);
  EXPECT_NEAR(together.at("classes")[1].at("dice").get<double>(), (3 * 2.0 / 3 + 0) / 4, 1e-12)
      << "every case weighs the same, whichever fold it is of";
  EXPECT_NEAR(row_of(report.json.at("spread"), "two", "dice").at("mean").get<double>(), (2.0 / 3 + 0) / 2, 1e-12)
      << "every fold weighs the same";
}

TEST(EvaluateSeveral, WhatIsNotComparableIsRefused) {
  TrainingScene scene("several_refused", 5);
  run_train(scene.options("run"), scene.progress);
  const auto refused = [&](const fs::path& other, const std::string& text) {
    expect_error(ErrorKind::kUsage, text, [&] {
      run_evaluate({.predictions = scene.path("run"), .references = scene.work(), .further = {other}}, scene.progress);
    });
  };
  refused(scene.data() / "labelsTr", "one is a run and one is none");
  refused(scene.path("run"), "is given twice");
  EvaluateOptions o{.predictions = scene.data() / "labelsTr",
                    .references = scene.data() / "labelsTr",
                    .further = {scene.data() / "labelsTs"}};
  o.task.given = {{"png", {"segmentation"}}};
  expect_error(ErrorKind::kUsage, "{png} writes what is seen of one prediction",
               [&] { run_evaluate(o, scene.progress); });
}

TEST(EvaluateSeveral, RunsOfSeveralSeedsHaveTheSpreadOfTheirLosses) {
  TrainingScene scene("several_runs");
  std::vector<double> losses;
  EvaluateOptions o{.references = scene.work()};
  for (const int seed : {1, 2}) {
    TrainOptions t = scene.options("run" + std::to_string(seed));
    t.seed = static_cast<std::uint64_t>(seed);
    run_train(t, scene.progress);
    losses.push_back(
        run_evaluate({.predictions = t.run, .references = scene.work()}, scene.progress).json.at("loss").get<double>());
    (seed == 1 ? o.predictions : o.further.emplace_back()) = t.run;
  }
  const TaskReport report = run_evaluate(o, scene.progress);
  const Json& loss = row_of(report.json.at("spread"), nullptr, "loss");
  EXPECT_EQ(loss.at("values"), Json(losses));
  EXPECT_NEAR(loss.at("deviation").get<double>(), std::abs(losses[0] - losses[1]) / std::sqrt(2.0), 1e-12);
  const TaskReport page =
      run_report({.runs = {o.predictions, o.further[0]}, .file = scene.path("both.html")}, scene.progress);
  EXPECT_FALSE(page.json.contains("spread")) << "nothing validated";
}

TEST(EvaluateSeveral, WhatTwoRunsOfEveryTaskHeldOutIsCompared) {
  for (const TaskScene& task : task_scenes()) {
    SCOPED_TRACE(task.name);
    TaskRun run(task, "several");
    TrainOptions o = run.options("run");
    o.held_out = HeldOutMode::kOn;
    const HeldOutReport held = *run_train(o, run.progress).held_out;
    ASSERT_EQ(held.problem, "");
    o.run = run.scene->path("seed"), o.seed = 5;
    const HeldOutReport other = *run_train(o, run.progress).held_out;
    const TaskReport report =
        run_evaluate({.predictions = held.output, .references = held.next[2], .further = {other.output}}, run.progress);
    EXPECT_EQ(report.json.at("each").size(), 2u);
    EXPECT_FALSE(report.json.at("spread").empty());
    for (const Json& row : report.json.at("spread")) EXPECT_LE(row.at("n"), 2);
  }
}

TEST(EvaluateSeveral, DetectionsAndClassesOfFoldsAreJoined) {
  ImagesScene scene("several_images");
  nlohmann::json truth = read_json(scene.annotations());
  const auto results = [&](const std::string& name, const std::vector<std::int64_t>& images) {
    nlohmann::json found = nlohmann::json::array();
    SeenInputs seen{.inputs = 7};
    for (std::int64_t i = 0; i < 7; ++i)
      if (std::ranges::count(images, i) == 0)
        seen.left_out.push_back(seen_name(100 + i, "p" + std::to_string(i) + ".png"));
    for (const auto& box : truth.at("annotations"))
      if (std::ranges::count(images, box.at("image_id").get<std::int64_t>() - 100) > 0)
        found.push_back({{"image_id", box.at("image_id")},
                         {"category_id", box.at("category_id")},
                         {"bbox", box.at("bbox")},
                         {"score", 0.9}});
    std::ofstream(scene.path(name)) << found.dump();
    write_seen(scene.path(name), seen);
    return scene.path(name);
  };
  const TaskReport report = run_evaluate({.predictions = results("a.json", {0, 1, 2}),
                                          .references = scene.annotations(),
                                          .further = {results("b.json", {3, 4, 5, 6})}},
                                         scene.progress);
  EXPECT_FALSE(report.partial) << report.text;
  EXPECT_EQ(report.json.at("together").at("images"), 7);
  EXPECT_EQ(report.json.at("together").at("detections"), 14);
  EXPECT_NEAR(report.json.at("together").at("AP").get<double>(), 1, 1e-12);
  EXPECT_EQ(row_of(report.json.at("spread"), nullptr, "AP").at("n"), 2);
}

TEST(EvaluateSeveral, OverRanksTheScoresAreThoseOfOneProcess) {
  Scene scene("several_ranks");
  scene.write_dataset(4);
  const EvaluateOptions o{.predictions = write_labels(scene, "fold0", {0, 1, 2}, 7),
                          .references = scene.data() / "labelsTr",
                          .further = {write_labels(scene, "fold1", {3}, 6)}};
  leave_out(o.predictions, {3}), leave_out(o.further[0], {0, 1, 2});
  const TaskReport alone = run_evaluate(o, scene.progress);
  test::Mailbox mailbox(2);
  test::run_valid_ranks(mailbox, [&](Transport& transport) {
    RecordingProgress progress;
    const TaskReport report = run_evaluate(o, {progress, {.threads = 1, .transport = &transport}});
    if (transport.rank() > 0) return;
    EXPECT_EQ(report.json.at("spread"), alone.json.at("spread"));
    EXPECT_EQ(report.json.at("together"), alone.json.at("together"));
  });
}

}  // namespace
}  // namespace voxshard
