// Trees of studies and plain folders on the command line: prepared, checked, and without a trace of who they are.
#include <sys/stat.h>

#include "tests/cli/data/study_tree_scene.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

using StudyTreeCli = StudyTreeScene;

TEST_F(StudyTreeCli, IsPreparedWithoutATraceOfWhoItIs) {
  const CommandResult r = run_voxshard(prepare());
  ASSERT_EQ(r.exit_code, 0) << r.err;
  expect_nobody(r);
  EXPECT_THAT(r.out, HasSubstr("4 prepared"));
  EXPECT_THAT(r.out, HasSubstr("spleen: in 3 of 4 cases"));
  EXPECT_THAT(r.out, HasSubstr("ids of cases are numbers"));
  struct stat status {};
  ASSERT_EQ(::stat((work_ + "/case_paths.jsonl").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_THAT(file_text(work_ + "/case_paths.jsonl"), HasSubstr("PLANTED_P2"));
}

TEST_F(StudyTreeCli, WhatIsWrongIsToldByIdsAlone) {
  fs::resize_file(patient_folder(0) + "/PLANTED_CT/PLANTED_IM1",
                  fs::file_size(patient_folder(0) + "/PLANTED_CT/PLANTED_IM1") - 20);
  fs::remove(patient_folder(1) + "/PLANTED_CT/PLANTED_IM2");
  fs::resize_file(patient_folder(2) + "/PLANTED_RS.dcm", 300);
  for (const char* options : {"", "--json --resume"}) {
    const CommandResult r = run_voxshard(prepare(options));
    EXPECT_EQ(r.exit_code, 8) << r.err;
    expect_nobody(r);
  }
  const std::string list = file_text(work_ + "/quarantine.csv");
  EXPECT_THAT(list, HasSubstr("E_READ"));
  EXPECT_THAT(list, HasSubstr("E_GAP"));
  const CommandResult none = run_voxshard("prepare " + patient_folder(1) + " -o " + (scratch_ / "none") +
                                          " --classes " + (scratch_ / "map.toml"));
  EXPECT_EQ(none.exit_code, 4);
  const std::string own = patient_folder(1);  // the operator's own argument
  std::string err = none.err;
  for (std::size_t at = err.find(own); at != std::string::npos; at = err.find(own)) err.erase(at, own.size());
  EXPECT_THAT(err, Not(HasSubstr("PLANTED")));
}

TEST_F(StudyTreeCli, NamesAreKeptWhenThatIsAskedForAndSaid) {
  const CommandResult r = run_voxshard(prepare("--keep-names"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(fs::exists(work_ + "/images/PLANTED_P0_PLANTED_CT.nii"));
  EXPECT_FALSE(fs::exists(work_ + "/case_paths.jsonl"));
  EXPECT_THAT(r.err, HasSubstr("--keep-names says so"));
}

TEST_F(StudyTreeCli, ASecretMakesIdsThatHoldAnywhere) {
  ASSERT_EQ(run_voxshard(prepare("--id-salt " + (scratch_ / "salt"))).exit_code, 0);
  std::set<std::string> first, second;
  for (const auto& file : fs::directory_iterator(work_ + "/images")) first.insert(file.path().filename());
  const std::string other = scratch_ / "elsewhere";
  fs::create_directories(other);
  fs::rename(tree_, other + "/studies");
  const CommandResult r = run_voxshard("prepare " + other + " -o " + (scratch_ / "again") + " --classes " +
                                       (scratch_ / "map.toml") + " --id-salt " + (scratch_ / "salt"));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, Not(HasSubstr("W_SECRET")));
  for (const auto& file : fs::directory_iterator(scratch_ / "again/images")) second.insert(file.path().filename());
  EXPECT_EQ(first, second) << "the same series, below another folder";
}

TEST_F(StudyTreeCli, IsChecked) {
  const CommandResult r = run_voxshard("check " + tree_ + " --classes " + (scratch_ / "map.toml") + " -o " +
                                       (scratch_ / "checked") + " --json");
  ASSERT_TRUE(r.exit_code == 0 || r.exit_code == 8) << r.err;
  EXPECT_EQ(r.json().at("training"), 4);
  expect_nobody(r);
  EXPECT_TRUE(fs::exists(scratch_ / "checked/case_paths.jsonl"));
  EXPECT_EQ(run_voxshard("check " + tree_).exit_code, 2) << "a tree needs --classes";
}

TEST_F(StudyTreeCli, WhatPrepareResamplesIsNoFindingWhereCheckResamplesToo) {
  fs::remove(patient_folder(3) + "/PLANTED_CT/PLANTED_IM2");
  const std::string check = "check " + tree_ + " --classes " + (scratch_ / "map.toml") + " --json",
                    resample = " --irregular-slices resample";
  ASSERT_EQ(run_voxshard(prepare(resample)).exit_code, 0);
  const auto has_gap = [](const CommandResult& r) { return r.out.find("E_GAP") != std::string::npos; };
  const CommandResult refused = run_voxshard(check), r = run_voxshard(check + resample);
  EXPECT_TRUE(has_gap(refused));
  EXPECT_FALSE(has_gap(r)) << r.out;
  EXPECT_THAT(r.out, HasSubstr("W_RESAMPLED"));
  expect_nobody(r);
}

TEST_F(StudyTreeCli, AFractionalSegmentationIsCutWhereThatIsAskedForAndSaid) {
  for (int i = 0; i < 4; ++i) {
    const std::string uid = "1.2.840.4711." + std::to_string(i);
    fs::remove(patient_folder(i) + "/PLANTED_RS.dcm");
    SegmentationSpec seg{.segments = {"Leber", "Spleen"}, .rows = 8, .columns = 8};
    seg.series = uid + ".4", seg.frame_of_reference = uid + ".9", seg.step = "2", seg.study = uid;
    seg.patient = "PLANTED^P", seg.instance = uid + ".800", seg.own_series = uid + ".80";
    std::string part(64, '\0'), whole(64, '\0');
    part[9] = part[10] = '\x50', part[11] = '\xc0', whole[50] = '\xff';  // 0.31, 0.31, 0.75; 1
    seg.frames = {{.segment = 1, .position = {0, 0, 2}, .values = part},
                  {.segment = 2, .position = {0, 0, 4}, .values = whole}};
    write_study_file(patient_folder(i) + "/PLANTED_SEG.dcm", segmentation_bytes(seg));
  }
  const auto liver_of = [&](const std::string& work) {
    return nlohmann::json::parse(file_text(work + "/dataset.json"))
        .at("cases")
        .at(0)
        .at("class_voxels")
        .at(1)
        .get<int>();
  };
  const CommandResult half = run_voxshard(prepare("--spacing keep"));
  ASSERT_EQ(half.exit_code, 0) << half.err;
  EXPECT_THAT(half.err, HasSubstr("W_FRACTION 3 voxels that a segment fills in part: from 0.50"));
  EXPECT_EQ(liver_of(work_), 1);
  const CommandResult less = run_voxshard(prepare("--spacing keep --fraction 0.3 --resume"));
  ASSERT_EQ(less.exit_code, 0) << less.err;
  EXPECT_THAT(less.err, HasSubstr("from 0.30"));
  EXPECT_EQ(liver_of(work_), 3) << "what was cut elsewhere is made anew";
  expect_nobody(less);
  const std::string map = " --classes " + (scratch_ / "map.toml"), fraction = " --fraction 0.3";
  EXPECT_THAT(run_voxshard("check " + tree_ + map + fraction + " --json").out, HasSubstr("from 0.30"));
  const std::string seg = patient_folder(0) + "/PLANTED_SEG.dcm", labels = scratch_ / "labels.nii.gz";
  const CommandResult converted = run_voxshard("convert " + seg + map + fraction + " -o " + labels + " --like " +
                                               patient_folder(0) + "/PLANTED_CT --json");
  ASSERT_EQ(converted.exit_code, 0) << converted.err;
  EXPECT_EQ(converted.json().at("classes").at(0).at("voxels"), 3);
  EXPECT_THAT(converted.out, HasSubstr("W_FRACTION"));
  const CommandResult set =
      run_voxshard("convert " + tree_ + map + fraction + " -o " + (scratch_ / "set") + " --to nnunet");
  ASSERT_EQ(set.exit_code, 0) << set.err;
  const CommandResult scores =
      run_voxshard("evaluate " + (scratch_ / "set/labelsTr") + " " + (scratch_ / "set/labelsTr") + " --json");
  EXPECT_EQ(scores.json().at("classes").at(0).at("name"), "liver");
  EXPECT_EQ(run_voxshard(prepare("--fraction 0")).exit_code, 2);
}

TEST_F(StudyTreeCli, PlainFoldersArePreparedAndCheckedToo) {
  for (const char* part : {"A", "B"}) fs::create_directories(scratch_ / part);
  ASSERT_EQ(run_voxshard("demo " + (scratch_ / "demo") + " --cases 3 --test 0 -q").exit_code, 0);
  for (const auto& file : fs::directory_iterator(scratch_ / "demo/imagesTr"))
    fs::copy(file.path(), fs::path(scratch_ / "A") / file.path().filename());
  for (const auto& file : fs::directory_iterator(scratch_ / "demo/labelsTr"))
    fs::copy(file.path(), fs::path(scratch_ / "B") / file.path().filename());
  const std::string folders = "--images " + (scratch_ / "A") + " --labels " + (scratch_ / "B");
  const CommandResult r = run_voxshard("prepare " + folders + " -o " + work_ + " --spacing 8,8,8");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(fs::exists(work_ + "/images/case_0001.nii"));
  EXPECT_THAT(r.err, HasSubstr("classes are the labels that are there"));
  const CommandResult checked = run_voxshard("check " + folders + " --json");
  ASSERT_TRUE(checked.exit_code == 0 || checked.exit_code == 8) << checked.err;
  EXPECT_EQ(checked.json().at("training"), 3);
  const CommandResult half = run_voxshard("prepare --images " + (scratch_ / "A") + " -o " + work_);
  EXPECT_EQ(half.exit_code, 2);
  EXPECT_THAT(half.err, HasSubstr("--images and --labels go together"));
}

TEST_F(StudyTreeCli, AnArchiveForEachStudyIsPreparedLikeItsFolder) {
  ASSERT_EQ(run_voxshard(prepare("-q")).exit_code, 0);
  const std::string zips = packed_tree(), again = scratch_ / "again";
  const std::string words = "prepare " + zips + " -o " + again + " --classes " + (scratch_ / "map.toml");
  const CommandResult r = run_voxshard(words + " --threads 4");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("4 prepared"));
  for (const char* part : {"images", "labels", "foreground", "cases"})
    for (const auto& file : fs::directory_iterator(work_ + "/" + part))
      EXPECT_EQ(file_text(again + "/" + part + "/" + file.path().filename().string()), file_text(file.path()))
          << file.path();
  EXPECT_THAT(file_text(again + "/case_paths.jsonl"), HasSubstr("PLANTED_P2.zip/#series=ct_"));
  EXPECT_THAT(run_voxshard(words + " --resume").out, HasSubstr("0 prepared, 4 finished before"));
  fs::remove_all(work_), fs::rename(again, work_);
  expect_nobody(r);
  EXPECT_EQ(run_voxshard("check " + zips + " --classes " + (scratch_ / "map.toml") + " -o " + (scratch_ / "checked") +
                         " --deep --json")
                .json()
                .at("findings"),
            run_voxshard("check " + tree_ + " --classes " + (scratch_ / "map.toml") + " -o " + (scratch_ / "seen") +
                         " --deep --json")
                .json()
                .at("findings"));
}

TEST_F(StudyTreeCli, AnArchiveThatCannotBeReadCostsItsStudy) {
  const std::string zips = packed_tree();
  fs::resize_file(zips + "/PLANTED_P1.zip", fs::file_size(zips + "/PLANTED_P1.zip") / 2);
  const CommandResult r = run_voxshard("prepare " + zips + " -o " + work_ + " --classes " + (scratch_ / "map.toml"));
  EXPECT_EQ(r.exit_code, 8) << r.err;
  EXPECT_THAT(r.out, HasSubstr("3 prepared"));
  EXPECT_THAT(file_text(work_ + "/quarantine.csv"), HasSubstr("E_ARCHIVE"));
  expect_nobody(r);
}

}  // namespace
}  // namespace voxshard
