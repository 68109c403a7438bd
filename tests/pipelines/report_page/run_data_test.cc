// What is read from a run folder for its page: all rows of a short run, thinned rows of a long one, whole rows alone.
#include "pipelines/report_page/run_data.h"

#include "pipelines/report_page/page_facts.h"
#include "pipelines/report_page/score_words.h"
#include "tests/expect_error.h"
#include "tests/pipelines/report_page/written_run.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(RunData, HoldsTheRowsOfTheFiles) {
  WrittenRun written("rows");
  written.steps(4);
  written.validation(2, {{"liver", {{"a", 0.5}, {"b", 1}}}, {"spine", {{"a", 0}, {"b", 0.5}}}});
  written.validation(4, {{"liver", {{"a", 0.25}, {"b", 0}}}, {"spine", {{"a", 0.5}, {"b", 0.5}}}});
  written.write();
  const RunData run = read_run_data(written.path());
  EXPECT_EQ(run.name, "run");
  EXPECT_EQ(run.metric, "dice");
  ASSERT_EQ(run.steps.size(), 4u);
  EXPECT_EQ(run.steps[2].loss, 1.0 / 3);
  EXPECT_EQ(run.step_seconds, 2);
  EXPECT_THAT(run.classes, ElementsAre("liver", "spine"));
  ASSERT_EQ(run.validations.size(), 2u);
  EXPECT_EQ(run.best()->step, 2);
  EXPECT_EQ(run.last()->step, 4);
  EXPECT_THAT(run.best()->by_class, ElementsAre(0.75, 0.25));
  ASSERT_EQ(run.last()->cases.size(), 2u);
  EXPECT_EQ(run.last()->cases[1].name, "b");
  EXPECT_THAT(run.last()->cases[1].by_class, ElementsAre(0, 0.5));
}

TEST(RunData, ARowThatIsJustBeingWrittenIsLeftOut) {
  WrittenRun written("torn");
  written.steps(3);
  written.validation(3, {{"liver", {{"a", 0.5}}}});
  written.write("4,0.2,1,1,1");
  const RunData run = read_run_data(written.path());
  EXPECT_EQ(run.rows, 3);
  EXPECT_EQ(run.validations.size(), 1u);
}

TEST(RunData, ALongRunKeepsEveryKthRowAndTheLast) {
  WrittenRun written("long");
  written.steps(4500);
  for (int step = 1; step <= 900; ++step)
    written.validation(step, {{"liver", {{"a", step == 333 ? 0.9 : 0.1 + step * 1e-5}}}});
  written.write();
  const RunData run = read_run_data(written.path());
  EXPECT_EQ(run.rows, 4500);
  EXPECT_LE(run.steps.size(), kMostPoints + 1);
  EXPECT_EQ(run.every, 8);
  for (std::size_t i = 0; i + 1 < run.steps.size(); ++i)
    EXPECT_EQ(run.steps[i].step, 1 + static_cast<std::int64_t>(i) * run.every);
  EXPECT_EQ(run.steps.back().step, 4500);
  EXPECT_EQ(run.step_seconds, 2250) << "of all rows";
  EXPECT_LE(run.validations.size(), 2 * kMostValidations + 1);
  EXPECT_EQ(run.best()->step, 333);
  EXPECT_EQ(run.best()->cases.size(), 1u);
  EXPECT_EQ(run.last()->step, 900);
  EXPECT_EQ(run.last()->cases.size(), 1u);
}

TEST(RunData, TheBestOfAMetricOfWhichLowerIsBetterIsTheLowest) {
  WrittenRun written("lower", "distance");
  written.record["metric"]["higher_is_better"] = false;
  written.validation(1, {{"liver", {{"a", 3}, {"b", 0}}}});
  written.validation(2, {{"liver", {{"a", 4}, {"b", 0}}}});
  written.write();
  const RunData run = read_run_data(written.path());
  EXPECT_EQ(run.best()->step, 1);
  EXPECT_EQ(worst_first(*run.best(), false).front()->name, "a");
  EXPECT_TRUE(missed_classes(run).empty()) << "a distance of 0 misses nothing";
}

TEST(RunData, AveragedWeightsMayBeBestButAreNotTheLastOfTheTraining) {
  WrittenRun written("averaged");
  written.validation(5, {{"liver", {{"a", 0.25}}}});
  written.validation(5, {{"liver", {{"a", 0.5}}}}, "averaged");
  written.write();
  const RunData run = read_run_data(written.path());
  EXPECT_EQ(run.best()->weights, "averaged");
  EXPECT_EQ(run.last()->score, 0.25);
  EXPECT_EQ(run.last()->cases.size(), 1u);
}

TEST(RunData, ClassesAreMissedByTheBetterWeightsOfTheLastStep) {
  const auto missed = [](const std::string& name, double last, double averaged) {
    WrittenRun written(name);
    for (const int step : {1, 2}) {  // the best validation is the first
      written.validation(step, {{"liver", {{"a", step == 1 ? 0.9 : last}}}});
      written.validation(step, {{"liver", {{"a", step == 1 ? 0.9 : averaged}}}}, "averaged");
    }
    written.write();
    return missed_classes(read_run_data(written.path()));
  };
  EXPECT_TRUE(missed("missed_by_last", 0, 0.5).empty());
  EXPECT_TRUE(missed("missed_by_average", 0.5, 0).empty());
  EXPECT_THAT(missed("missed_by_both", 0, 0), ElementsAre("liver: dice 0.000 in 1 of 1 case"));
}

TEST(RunData, NoPathAndNoTrainingCaseGetsIntoTheFacts) {
  WrittenRun written("private");
  written.record["training"]["data"] = {"/data/Doe^Jane", "../x", "~/y"};
  written.record["from"] = {{"run", "/data/other"}};
  written.write();
  const auto facts = page_facts(written.path());
  EXPECT_THAT(facts.dump(), Not(HasSubstr("/data")));
  EXPECT_THAT(facts.dump(), Not(HasSubstr("secret")));
  EXPECT_THAT(facts.dump(), Not(HasSubstr("other/run")));
  EXPECT_THAT(facts.dump(), Not(HasSubstr("Doe")));
  EXPECT_EQ(fact(facts, "/training/cases"), "2");
  EXPECT_EQ(fact(facts, "/settings/0/reason") + fact(facts, "/settings/1/reason"), "one sample a step");
}

TEST(RunData, AFolderThatHoldsNoRunIsRefused) {
  const ScratchFolder folder("no_run");
  expect_error(ErrorKind::kInput, "holds no run of train", [&] { read_run_data(folder.path()); });
  folder.write("run.json", R"({"command": "prepare"})");
  expect_error(ErrorKind::kInput, "holds no run of train", [&] { read_run_data(folder.path()); });
  folder.write("run.json", R"({"command": "train", "format": "voxshard 1"})");
  expect_error(ErrorKind::kCheckpoint, "voxshard 1", [&] { read_run_data(folder.path()); });
}

TEST(ScoreWords, MissedClassesAreSaidTheMostOftenMissedFirst) {
  WrittenRun written("missed");
  written.validation(1, {{"Cord", {{"a", 0}, {"b", 0}, {"c", 0}}},
                         {"Brain", {{"a", 0.5}, {"b", 0.5}, {"c", 0.5}}},
                         {"Aorta", {{"a", 0}, {"b", 0.25}, {"c", 0.5}}}});
  written.write();
  EXPECT_THAT(missed_classes(read_run_data(written.path())),
              ElementsAre("Cord: dice 0.000 in 3 of 3 cases", "Aorta: dice 0.000 in 1 of 3 cases"));
}

}  // namespace
}  // namespace voxshard
