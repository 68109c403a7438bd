// Ranks divide the cases of a data set among them: together they write what one process writes, byte for byte, whatever
// their number, with bad cases among the good ones and after an interruption.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "pipelines/engine/case_pass.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "pipelines/tasks/segmentation/scores/evaluate_labels.h"
#include "tests/pipelines/prepare_scene.h"
#include "tests/pipelines/prepared_files.h"
#include "tests/ranks/mailbox.h"

namespace voxshard {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

TEST(CaseShares, TheLargestFirstEachToTheRankThatHasLeast) {
  EXPECT_THAT(share_out({9, 1, 5, 4}, 2), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(share_out({0, 0, 0}, 2), ElementsAre(0, 1, 0));
  EXPECT_THAT(share_out({}, 3), ElementsAre());
  EXPECT_THAT(share_out({4, 4}, 4), ElementsAre(0, 1));
}

TEST(CaseShares, ARankThatSeesOtherCasesIsAnError) {
  Mailbox mailbox(3);
  const auto errors = run_ranks(mailbox, [&](Transport& t) {
    share_cases(t, {"a", t.rank() == 2 ? "c" : "b"}, [](std::int64_t) { return 1; });
  });
  ASSERT_TRUE(errors[0] && errors[1] && errors[2]);
  try {
    std::rethrow_exception(errors[0]);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_THAT(error.what(), HasSubstr("rank 2: [ranks] this rank sees other cases than rank 0"));
  }
}

TEST(CasePass, EveryRankKnowsWhatCameOfEveryCase) {
  Mailbox mailbox(3);
  std::atomic<int> turns{0};
  run_valid_ranks(mailbox, [&](Transport& transport) {
    RecordingProgress progress;
    MemoryGate gate(0);
    const RunContext context(progress, {.threads = 2, .transport = &transport});
    std::vector<double> found(7, 0);
    CasePass pass("look", {"a", "b", "c", "d", "e", "f", "g"}, context, gate);
    const auto good = pass.run({.need = [](std::int64_t) { return ProcessPlan(); },
                                .body =
                                    [&](std::int64_t i) {
                                      ++turns;
                                      if (i == 1 || i == 4) throw Error(ErrorKind::kInput, "E_READ", "no use");
                                      found[i] = i == 3 ? std::nan("") : 1.0 / 3 * static_cast<double>(i);
                                    },
                                .value = [&](std::int64_t i) { return Json(found[i]); },
                                .take = [&](std::int64_t i, const Json& value) { found[i] = value.get<double>(); }});
    EXPECT_THAT(good, ElementsAre(1, 0, 1, 1, 0, 1, 1));
    for (const std::size_t i : {0, 2, 5, 6}) EXPECT_EQ(found[i], 1.0 / 3 * static_cast<double>(i)) << i;
    EXPECT_TRUE(std::isnan(found[3]));
    ASSERT_EQ(pass.failures().size(), 2u);
    EXPECT_EQ(pass.failures()[1].id, "e");
    EXPECT_THAT(progress.lines,
                ElementsAre("case b: E_READ no use [quarantined]", "case e: E_READ no use [quarantined]"));
    EXPECT_FALSE(pass.stopped());
  });
  EXPECT_EQ(turns, 7) << "each case has one turn";
}

/// Writes five cases of several sizes, of which number 1 is truncated and number 3 has a label of another shape.
void write_cases(Scene& scene) {
  scene.write_dataset(5);
  write_volume(scene.image(4), Scene::make_image(4, {12, 10, 20}), DiskType::kI16);
  write_volume(scene.label(4), Scene::make_label({12, 10, 20}), DiskType::kU8);
  Scene::truncate(scene.image(1));
  write_volume(scene.label(3), Scene::make_label({12, 10, 7}), DiskType::kU8);
}

/// Prepares the cases in one process.
PrepareReport prepare_alone(Scene& scene, const std::string& folder, bool resume = false) {
  PrepareOptions options = preparation(scene, "1.5,2,3", resume);
  options.work = scene.path(folder);
  return prepare_dataset(options, scene.progress);
}

struct StopAfter : RecordingProgress {
  explicit StopAfter(std::int64_t cases) : cases(cases) {}
  void update(std::string_view stage, std::int64_t done, std::int64_t, std::string_view) override {
    if (stage == "prepare" && done >= cases) stop = true;
  }
  std::int64_t cases;
};

/// `stop_after`: rank 1 is asked to stop once it has prepared that many cases; below 0: never.
std::vector<PrepareReport> prepare_over(int ranks, Scene& scene, const std::string& folder, bool resume = false,
                                        std::int64_t stop_after = -1) {
  Mailbox mailbox(ranks);
  std::vector<PrepareReport> reports(static_cast<std::size_t>(ranks));
  run_valid_ranks(mailbox, [&](Transport& transport) {
    RecordingProgress goes_on;
    StopAfter stops(stop_after);
    PrepareOptions options = preparation(scene, "1.5,2,3", resume);
    options.work = scene.path(folder);
    const bool stopped = stop_after >= 0 && transport.rank() == 1;
    reports[transport.rank()] =
        prepare_dataset(options, {stopped ? static_cast<Progress&>(stops) : goes_on, {.transport = &transport}});
  });
  return reports;
}

TEST(RanksPrepare, TheFolderOfOneProcessWithBadCasesAmongTheGood) {
  Scene scene("ranks_prepare");
  write_cases(scene);
  const PrepareReport one = prepare_alone(scene, "one");
  ASSERT_EQ(one.prepared, 3);
  ASSERT_EQ(one.failures.size(), 2u);
  for (int ranks : {2, 3, 7}) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks");
    const std::string folder = std::to_string(ranks);
    for (const PrepareReport& report : prepare_over(ranks, scene, folder)) {
      EXPECT_EQ(report.plan, one.plan);
      EXPECT_EQ(report.prepared, 3);
      EXPECT_EQ(report.failures.size(), 2u);
    }
    EXPECT_EQ(differing_file(scene.path("one"), scene.path(folder)), "");
    EXPECT_EQ(read_prepared(scene.path(folder)).cases.size(), 3u);
  }
}

TEST(RanksPrepare, WhatWasStoppedGoesOnWithAnyOtherNumberOfRanks) {
  Scene scene("ranks_resume");
  scene.write_dataset(7);
  prepare_alone(scene, "one");
  for (const auto& [before, after] : {std::pair{2, 3}, {3, 1}, {2, 2}}) {
    SCOPED_TRACE(std::to_string(before) + " then " + std::to_string(after));
    const std::string folder = std::to_string(before) + "to" + std::to_string(after);
    for (const PrepareReport& report : prepare_over(before, scene, folder, false, 1)) {
      EXPECT_TRUE(report.interrupted);
      EXPECT_GT(report.prepared, 1);
      EXPECT_LT(report.prepared, 7);
    }
    EXPECT_THROW(read_prepared(scene.path(folder)), Error);
    const PrepareReport resumed = prepare_over(after, scene, folder, true)[0];
    EXPECT_GT(resumed.skipped, 1) << "what other ranks finished counts";
    EXPECT_EQ(resumed.skipped + resumed.prepared, 7);
    EXPECT_EQ(read_prepared(scene.path(folder)).cases.size(), 7u);
    for (const char* file : {"dataset.json", "plans.json", "images/case_5.nii", "cases/case_6.json"})
      EXPECT_EQ(Scene::bytes_of(scene.path("one") / file), Scene::bytes_of(scene.path(folder) / file)) << file;
    EXPECT_FALSE(std::filesystem::exists(scene.path(folder) / "manifest_rank1.jsonl"));
  }
}

TEST(RanksPrepare, NoUsableCaseEndsAllWithTheWordsOfRankZero) {
  Scene scene("ranks_none");
  scene.write_dataset(2);
  for (int i : {0, 1}) Scene::truncate(scene.image(i));
  Mailbox mailbox(3);
  const auto errors = run_ranks(mailbox, [&](Transport& transport) {
    RecordingProgress progress;
    prepare_dataset(preparation(scene), {progress, {.transport = &transport}});
  });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    try {
      std::rethrow_exception(error);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kNoCase);
      EXPECT_THAT(e.what(), HasSubstr("2 failed, listed in"));
    }
  }
  EXPECT_THAT(Scene::bytes_of(scene.work() / "quarantine.csv"), HasSubstr("case_1,E_READ"));
}

/// Writes predictions: half of class 2 is missing in case 0, case 2 has none, and that of case 4 is truncated.
EvaluateLabelsOptions write_predictions(Scene& scene) {
  std::filesystem::create_directories(scene.path("pred"));
  for (int i : {0, 1, 3, 4, 5}) {
    Volume label = Scene::make_label();
    if (i == 0)
      for (std::int64_t k = 7 * 120; k < label.voxels.count(); ++k)
        if (label.voxels.as<std::int32_t>()[k] == 2) label.voxels.as<std::int32_t>()[k] = 0;
    write_volume(scene.path("pred") / (Scene::id(i) + ".nii.gz"), label, DiskType::kU8);
  }
  Scene::truncate(scene.path("pred") / "case_4.nii.gz");
  EvaluateLabelsOptions options;
  options.predictions = scene.path("pred"), options.references = scene.data() / "labelsTr";
  return options;
}

TEST(RanksEvaluate, TheTablesAndFilesOfOneProcess) {
  Scene scene("ranks_evaluate");
  scene.write_dataset(6);
  for (const bool with_dataset : {true, false}) {
    EvaluateLabelsOptions options = write_predictions(scene);
    if (with_dataset) options.dataset = scene.data(), options.threshold_baseline = true;
    if (!with_dataset) options.metric_keys = {"dice", "hd95", "nsd"}, options.empty = find_empty_rule("inf");
    options.summary = scene.path("one.json");
    const Json one = to_json(evaluate_labels(options, scene.progress));
    ASSERT_EQ(one.at("failed"), 2);
    for (int ranks : {2, 4}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks");
      Mailbox mailbox(ranks);
      options.summary = scene.path("ranks.json");
      run_valid_ranks(mailbox, [&](Transport& transport) {
        RecordingProgress progress;
        EXPECT_EQ(to_json(evaluate_labels(options, {progress, {.transport = &transport}})).dump(), one.dump());
      });
      EXPECT_EQ(Scene::bytes_of(scene.path("ranks.json")), Scene::bytes_of(scene.path("one.json")));
    }
  }
}

}  // namespace
}  // namespace voxshard
