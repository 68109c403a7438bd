// predict --watch with rules: studies as DCMTK's storescp lays them down. The rules choose series and what they leave
// alone is counted; a study that comes again is told from a new one; slices that come late are not lost; a dry run says
// what would be done.
#include "io/datasets/case_ids.h"
#include "io/inbox/inbox.h"
#include "pipelines/tasks/segmentation/studies/study_again.h"
#include "tests/pipelines/commands/hospital/studies_scene.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST_F(RunStudies, TheRulesChooseSeriesAndWhatTheyLeaveAloneIsCounted) {
  StudySeries scout = ct(), mr = ct(), other = ct("2");
  scout.series += ".2", scout.slices = 2, mr.series += ".3", mr.modality = "MR", other.modality = "MR";
  receive("st_1", ct()), receive("st_1", scout), receive("st_1", mr), receive("st_2", other);
  fs::copy_file(trained_->data() / "imagesTs/phantom_002_0000.nii.gz", path("inbox/a.nii.gz"));
  progress_.at = {{"done 1", stop()}};
  const PredictReport report = run_predict(watch(), progress_);
  ASSERT_EQ(report.cases.size(), 1u);
  EXPECT_EQ(slices_of(report.cases[0]), 12);
  EXPECT_TRUE(report.failures.empty());
  EXPECT_EQ(
      nlohmann::json(report.found.at("left_alone")),
      (nlohmann::json{{"series", 4}, {"studies", 2}, {"by_rule", {{"format", 1}, {"modality", 2}, {"slices", 1}}}}));
  EXPECT_THAT(progress_.lines, Contains("2 series left alone: 1 by modality, 1 by slices"));
  for (const std::string& line : progress_.lines) EXPECT_THAT(line, Not(HasSubstr("Planted")));
  for (const char* name : {"done/st_1", "done/st_2", "done/a.nii.gz"}) EXPECT_TRUE(fs::exists(path(name))) << name;
  EXPECT_TRUE(fs::is_empty(path("inbox")));
}

TEST_F(RunStudies, OfTheSeriesThatRemainTheBestReconstructionIsPredicted) {
  StudySeries soft = ct(), sharp = ct(), thick = ct();
  soft.kernel = "B30f", sharp.kernel = "B70f", thick.kernel = "B31f";
  sharp.series += ".2", thick.series += ".3", thick.step_mm = 12, thick.slices = 8;
  for (const StudySeries& one : {soft, sharp, thick}) receive("st_1", one);
  progress_.at = {{"done 1", stop()}};
  const PredictReport report = run_predict(watch("[studies]\nkernel = [\"b7*\", \"b31*\"]\n"), progress_);
  ASSERT_EQ(report.cases.size(), 1u) << "the thick one is another reconstruction of the sharp one's scan";
  EXPECT_EQ(slices_of(report.cases[0]), 12);
  EXPECT_EQ(nlohmann::json(report.found.at("left_alone").at("by_rule")), (nlohmann::json{{"kernel", 1}}));
}

TEST_F(RunStudies, AStudyThatIsSentTwiceIsPredictedOnce) {
  receive("st_1", ct());
  progress_.at = {{"done 1", [&] { receive("st_1", ct(), 0, 7); }},
                  {"sent again unchanged", [&] { receive("st_1", ct()); }},
                  {"sent again unchanged", stop()}};
  const PredictReport report = run_predict(watch(), progress_);
  EXPECT_EQ(report.cases.size(), 1u);
  EXPECT_EQ(report.found.at("arrivals").at("sent_again"), 2);
  EXPECT_TRUE(fs::is_empty(path("inbox")));
  EXPECT_EQ(files_in(path("done/st_1")), 12u);
  EXPECT_FALSE(fs::exists(path("done/st_1.2")));
}

TEST_F(RunStudies, SlicesThatComeLateMakeANewResultOfTheWholeStudy) {
  receive("st_1", ct(), 0, 8);
  progress_.at = {{"done 1", [&] { receive("st_1", ct(), 8); }},
                  {"came again with 4 new or changed files", [] {}},
                  {"done 2", stop()}};
  const PredictReport report = run_predict(watch(), progress_);
  ASSERT_EQ(report.cases.size(), 2u);
  EXPECT_TRUE(report.failures.empty()) << "a case that comes again is no duplicate";
  EXPECT_EQ(report.cases[0].id, report.cases[1].id);
  EXPECT_EQ(slices_of(report.cases[1]), 12);
  EXPECT_EQ(report.kept, 0);
  EXPECT_EQ(files_in(path("done/st_1")), 12u);
  EXPECT_TRUE(fs::is_empty(path("inbox")));
}

TEST_F(RunStudies, SlicesThatComeWhileTheStudyIsPredictedAreNotMovedAwayUnseen) {
  receive("st_1", ct(), 0, 8);
  progress_.at = {{"predicted in", [&] { receive("st_1", ct(), 8); }}, {"done 2", stop()}};
  const PredictReport report = run_predict(watch(), progress_);
  ASSERT_EQ(report.cases.size(), 2u);
  EXPECT_EQ(slices_of(report.cases[1]), 12);
  EXPECT_EQ(files_in(path("done/st_1")), 12u);
  EXPECT_THAT(progress_.lines, Contains(HasSubstr("changed while it was read")));
}

TEST_F(RunStudies, AStudyThatFailedIsMendedByTheFilesThatItLacked) {
  receive("st_1", ct(), 0, 5), receive("st_1", ct(), 6);
  progress_.at = {{"done 1",
                   [&] {
                     EXPECT_EQ(read_json(path("done/failed/st_1.reason.json")).at("code"), "E_GAP");
                     EXPECT_EQ(files_in(path("done/failed/st_1")), 11u);
                     receive("st_1", ct(), 5, 6);
                   }},
                  {"came again with 1 new or changed file", [] {}},
                  {"done 2", stop()}};
  const PredictReport report = run_predict(watch(), progress_);
  ASSERT_EQ(report.cases.size(), 1u);
  EXPECT_EQ(slices_of(report.cases[0]), 12);
  EXPECT_EQ(files_in(path("done/st_1")), 12u);
  EXPECT_TRUE(fs::is_empty(path("done/failed"))) << "the reason went with it";
}

TEST_F(RunStudies, AStudyThatFailedIsPredictedAgainWhenItIsSentAgainUnchanged) {
  receive("st_1", ct());
  fs::create_directories(path("done/failed"));
  fs::rename(path("inbox/st_1"), path("done/failed/st_1"));  // for a reason that is gone
  std::ofstream(path("done/failed/st_1.reason.json")) << "{}";
  fs::create_directories(path("inbox/st_1"));
  EXPECT_TRUE(take_study_again(path("inbox/st_1"), path("done")).is_unchanged()) << "an empty folder is nothing new";
  receive("st_1", ct(), 0, 7);
  progress_.at = {{"a study that failed was sent again: predicted again", [] {}}, {"done 1", stop()}};
  const PredictReport report = run_predict(watch(), progress_);
  ASSERT_EQ(report.cases.size(), 1u);
  EXPECT_EQ(slices_of(report.cases[0]), 12);
  EXPECT_EQ(report.found.at("arrivals").at("sent_again"), 1);
  EXPECT_EQ(files_in(path("done/st_1")), 12u);
  EXPECT_TRUE(fs::is_empty(path("done/failed")) && fs::is_empty(path("inbox")));
}

TEST_F(RunStudies, AStudyThatFailsEachTimeItIsSentMovesAsideUnderOneName) {
  const auto receive_broken = [&] { receive("st_1", ct(), 0, 5), receive("st_1", ct(), 6); };
  receive_broken(), receive("st_2", ct("2"));
  progress_.at = {{"done 2", receive_broken}, {"a study that failed was sent again", [] {}}, {"done 3", stop()}};
  EXPECT_EQ(run_predict(watch(), progress_).cases.size(), 1u);
  EXPECT_TRUE(progress_.at.empty());
  EXPECT_EQ(read_json(path("done/failed/st_1.reason.json")).at("code"), "E_GAP");
  EXPECT_EQ(files_in(path("done/failed")), 1u + 11 + 1);
  EXPECT_TRUE(fs::is_empty(path("inbox")));
}

TEST_F(RunStudies, ACorrectedStudyIsPredictedFromItsNewFiles) {
  receive("st_1", ct());
  StudySeries corrected = ct();
  corrected.patient = "Planted^Corrected";
  progress_.at = {{"done 1", [&] { receive("st_1", corrected, 3, 5); }},
                  {"came again with 2 new or changed files", [] {}},
                  {"done 2", stop()}};
  const PredictReport report = run_predict(watch(), progress_);
  EXPECT_EQ(report.cases.size(), 2u);
  EXPECT_EQ(report.kept, 0) << "by the hash of its files";
  const std::string name = "CT." + ct().series + ".";
  EXPECT_THAT(read_bytes(path("done/st_1") / (name + "3")), HasSubstr("Corrected"));
  EXPECT_THAT(read_bytes(path("done/st_1") / (name + "5")), Not(HasSubstr("Corrected")));
}

TEST_F(RunStudies, AnotherStudyUnderTheSameNameIsNotJoinedWithTheEarlierOne) {
  receive("st_1", ct("1"));
  progress_.at = {{"done 1", [&] { receive("st_1", ct("2"), 0, 8); }}, {"done 2", stop()}};
  const PredictReport report = run_predict(watch(), progress_);
  ASSERT_EQ(report.cases.size(), 2u);
  EXPECT_EQ(files_in(path("done/st_1")), 12u);
  EXPECT_EQ(files_in(path("done/st_1.2")), 8u);
  const auto images = read_case_files(path("out"));
  EXPECT_EQ(images.size(), 2u);
  for (const auto& [id, files] : images) EXPECT_EQ(files.size(), 1u) << id << ": a later arrival leaves its line";
}

TEST_F(RunStudies, ARestartGoesOnWhereAKillLeftAStudyHalfJoined) {
  receive("st_1", ct(), 0, 8);
  fs::create_directories(path("done/failed"));
  fs::rename(path("inbox/st_1"), path("done/st_1"));  // finished, then slices came late
  receive("st_1", ct(), 8);
  const std::string name = "CT." + ct().series + ".";
  fs::rename(path("done/st_1") / (name + "0"), path("inbox/st_1") / (name + "0"));            // was moved
  fs::create_hard_link(path("done/st_1") / (name + "1"), path("inbox/st_1") / (name + "1"));  // has two names
  progress_.at = {{"done 1", stop()}};
  const PredictReport report = run_predict(watch(), progress_);
  ASSERT_EQ(report.cases.size(), 1u);
  EXPECT_EQ(slices_of(report.cases[0]), 12);
  EXPECT_EQ(files_in(path("done/st_1")), 12u);
  EXPECT_TRUE(fs::is_empty(path("inbox")));
}

TEST_F(RunStudies, AStudyThatCannotBeReadMovesAsideWithItsReasonAndIsListed) {
  fs::create_directories(path("inbox/st_1"));
  const std::string whole = dicom_bytes({}, {1, 2, 3, 4});
  std::ofstream(path("inbox/st_1/CT.1")) << whole.substr(0, whole.find("Planted") + 3);  // cut within its header
  receive("st_2", ct());
  progress_.at = {{"done 2", stop()}};
  const PredictReport report = run_predict(watch(), progress_);
  EXPECT_EQ(report.cases.size(), 1u);
  EXPECT_EQ(report.found.at("arrivals").at("unreadable"), 1);
  EXPECT_TRUE(fs::exists(path("done/failed/st_1/CT.1")));
  EXPECT_EQ(read_json(path("done/failed/st_1.reason.json")).at("code"), "E_READ");
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_THAT(report.failures[0].message, Not(HasSubstr("st_1"))) << "folders may be named after patients";
  const std::string list = read_bytes(path("out/quarantine.csv"));
  EXPECT_THAT(list, HasSubstr(report.failures[0].id + ",E_READ"));
  EXPECT_EQ(read_case_names(path("out")).at(report.failures[0].id).name, "st_1");
}

TEST_F(RunStudies, AStudyThatCouldNotBeReadLeavesTheListsWhenItIsSentAgain) {
  fs::create_directories(path("inbox/st_1"));
  const std::string whole = dicom_bytes({}, {1, 2, 3, 4});
  std::ofstream(path("inbox/st_1/CT." + ct().series + ".0")) << whole.substr(0, whole.find("Planted") + 3);
  progress_.at = {{"[quarantined]", [&] { receive("st_1", ct()); }}, {"done 2", stop()}};
  const PredictReport report = run_predict(watch(), progress_);
  EXPECT_EQ(report.cases.size(), 1u);
  EXPECT_TRUE(report.failures.empty());
  EXPECT_THAT(read_bytes(path("out/quarantine.csv")), Not(HasSubstr("E_READ")));
}

TEST_F(RunStudies, ASecondWatcherOfAnInboxIsRefused) {
  progress_.stop = true;
  {
    const Inbox first({.folder = path("inbox"), .done = path("done")});
    expect_error(ErrorKind::kOutput, "is in use by another voxshard", [&] { run_predict(watch(), progress_); });
  }
  EXPECT_NO_THROW(run_predict(watch(), progress_));
}

TEST_F(RunStudies, ADryRunSaysWhatWouldBeTakenAndWritesNothing) {
  StudySeries mr = ct("2");
  mr.modality = "MR";
  receive("st_1", ct()), receive("st_2", mr), receive("st_3", ct("3"));
  fs::create_directories(path("done/failed"));
  fs::rename(path("inbox/st_3"), path("done/st_3"));
  receive("st_3", ct("3"), 0, 2);
  PredictOptions o = watch();
  o.dry_run = true;
  const PredictReport report = run_predict(o, progress_);
  EXPECT_EQ(report.planned.size(), 1u);
  EXPECT_EQ(nlohmann::json(report.found.at("left_alone")),
            (nlohmann::json{{"series", 1}, {"studies", 1}, {"by_rule", {{"modality", 1}}}}));
  EXPECT_EQ(nlohmann::json(report.found.at("arrivals")),
            (nlohmann::json{{"sent_again", 1}, {"changed", 0}, {"unreadable", 0}, {"incomplete", 0}}));
  EXPECT_FALSE(fs::exists(path("out")));
  EXPECT_EQ(files_in(path("inbox")), 3u + 12 + 12 + 2);
  EXPECT_EQ(files_in(path("done")), 2u + 12);

  o.task.of<VolumeReading>().quiet_s = 3600;
  const PredictReport early = run_predict(o, progress_);
  EXPECT_TRUE(early.planned.empty());
  EXPECT_EQ(early.found.at("arrivals").at("incomplete"), 3);
  std::ofstream(path("rules.toml")) << "[studies]\nslice = [5, 100]\n";
  expect_error(ErrorKind::kConfig, "studies.slice is an unknown key", [&] { run_predict(o, progress_); });
}

TEST_F(RunStudies, ADryRunThatLeavesEverythingOutEndsWithItsReportAsTheWatchDoes) {
  receive("st_1", ct());
  fs::create_directories(path("inbox/st_2"));
  const std::string whole = dicom_bytes({}, {1, 2, 3, 4});
  std::ofstream(path("inbox/st_2/CT.1")) << whole.substr(0, whole.find("Planted") + 3);  // cut within its header
  PredictOptions o = watch();
  o.dry_run = true;
  const PredictReport report = run_predict(o, {progress_, {.core_budget_bytes = 1 << 18}});  // less than the parameters
  EXPECT_TRUE(report.planned.empty());
  ASSERT_EQ(report.failures.size(), 2u) << "for exit 8";
  EXPECT_EQ(report.failures[0].code, "E_READ");
  EXPECT_THAT(report.failures[0].message, Not(HasSubstr("st_2"))) << "folders may be named after patients";
  EXPECT_EQ(report.failures[1].code, "E_BUDGET");
  EXPECT_FALSE(fs::exists(path("out")));
}

TEST_F(RunStudies, HowLongFinishedStudiesAreKeptIsSaid) {
  const std::pair<const char*, const char*> kept[] = {
      {"", "for ever"}, {"keep_days = 0\n", "for ever"}, {"keep_days = 1\n", "1 day"}, {"keep_days = 7\n", "7 days"}};
  for (const auto& [key, text] : kept) {
    PredictOptions o = watch(std::string("[receive]\n") + key);
    o.dry_run = true;
    run_predict(o, progress_);
    EXPECT_THAT(std::exchange(progress_.lines, {}), Contains("finished studies are kept " + std::string(text)));
  }
}

TEST_F(RunStudies, FinishedStudiesAreDeletedAfterTheDaysOfTheRules) {
  const std::string rules = "[receive]\nkeep_days = 1e-9\n";  // 86 microseconds
  receive("st_1", ct());
  progress_.at = {{"done 1", stop()}};
  const PredictReport first = run_predict(watch(rules), progress_);
  ASSERT_EQ(first.cases.size(), 1u);
  ASSERT_TRUE(fs::exists(path("done/st_1"))) << "a watcher looks when it starts";
  receive("st_2", ct("2"));
  progress_.stop = false, progress_.at = {{"done 1", stop()}};
  EXPECT_EQ(run_predict(watch(rules), progress_).cases.size(), 1u);
  EXPECT_THAT(progress_.lines, Contains(HasSubstr("finished studies are kept ")));
  EXPECT_THAT(progress_.lines, Contains("1 finished entry deleted: kept for as long as the rules say"));
  EXPECT_FALSE(fs::exists(path("done/st_1")));
  EXPECT_TRUE(fs::exists(path("done/st_2")));
  EXPECT_TRUE(fs::exists(first.cases[0].file)) << "results stay";
}

TEST_F(RunStudies, RulesHoldForAFolderThatIsNotWatchedToo) {
  StudySeries mr = ct();
  mr.series += ".2", mr.modality = "MR";
  receive("st_1", ct()), receive("st_1", mr);
  PredictOptions o = watch();
  o.input = path("inbox/st_1");
  o.task.of<VolumeReading>() = {.rules = path("rules.toml")};
  const PredictReport report = run_predict(o, progress_);
  EXPECT_EQ(report.cases.size(), 1u);
  EXPECT_EQ(report.found.at("left_alone").at("series"), 1);
  std::ofstream(path("rules.toml")) << "[studies]\nmodality = [\"PT\"]\n";
  expect_error(ErrorKind::kNoCase, "2 series left alone: 2 by modality", [&] { run_predict(o, progress_); });
}

}  // namespace
}  // namespace voxshard
