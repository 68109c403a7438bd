// Trees of studies and plain folders on the command line: prepared, checked, and without a trace of who they are.
#include <sys/stat.h>

#include "tests/cli/run_voxshard.h"
#include "tests/io/study_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class StudyTreeCli : public testing::Test {
 protected:
  /// Writes four studies in folders that are named after patients; the last one lacks the spleen.
  StudyTreeCli() {
    for (int i = 0; i < 4; ++i) {
      const std::string uid = "1.2.840.4711." + std::to_string(i);
      StudySeries ct{.study = uid, .series = uid + ".4", .frame = uid + ".9", .slices = 4 + i};
      ct.patient = "PLANTED^P" + std::to_string(i);
      const fs::path folder = fs::path(tree_) / ("PLANTED_P" + std::to_string(i));
      write_series(folder / "PLANTED_CT", ct, "PLANTED_IM");
      std::vector<Block> organs = {{1, "Leber", 2, 6, 1, 3}};
      if (i != 3) organs.push_back({2, "Spleen", 0, 2, 0, 1});
      write_structure_set(folder / "PLANTED_RS.dcm", ct, organs);
    }
    scratch_.write("map.toml", "[[class]]\nname = \"liver\"\naliases = [\"Leber\"]\n[[class]]\nname = \"spleen\"\n");
    scratch_.write("salt", "a secret of the operator's");
    fs::permissions(scratch_ / "salt", fs::perms(0600));
  }
  std::string prepare(const std::string& options = "") const {
    return "prepare " + tree_ + " -o " + work_ + " --classes " + (scratch_ / "map.toml") + " " + options;
  }
  std::string patient_folder(int i) const { return tree_ + "/PLANTED_P" + std::to_string(i); }
  /// Returns all that a command printed, and all that is in the work folder but the file of its owner.
  std::string all_of(const CommandResult& r) const {
    std::string all = r.out + r.err;
    if (fs::exists(work_))
      for (const auto& file : fs::recursive_directory_iterator(work_)) {
        all += fs::relative(file.path(), work_).string() + "\n";
        if (file.is_regular_file() && file.path().filename() != "case_paths.json") all += file_text(file.path());
      }
    return all;
  }
  void expect_nobody(const CommandResult& r) const {
    const std::string all = all_of(r);
    for (const char* planted : {"PLANTED", "1.2.840.4711", "series=ct_"}) EXPECT_THAT(all, Not(HasSubstr(planted)));
  }

  Folder scratch_{"trees"};
  std::string tree_ = scratch_ / "studies", work_ = scratch_ / "work";
};

TEST_F(StudyTreeCli, IsPreparedWithoutATraceOfWhoItIs) {
  const CommandResult r = run_voxshard(prepare());
  ASSERT_EQ(r.exit_code, 0) << r.err;
  expect_nobody(r);
  EXPECT_THAT(r.out, HasSubstr("4 prepared"));
  EXPECT_THAT(r.out, HasSubstr("spleen: in 3 of 4 cases"));
  EXPECT_THAT(r.out, HasSubstr("ids of cases are numbers"));
  struct stat status {};
  ASSERT_EQ(::stat((work_ + "/case_paths.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_THAT(file_text(work_ + "/case_paths.json"), HasSubstr("PLANTED_P2"));
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
  EXPECT_FALSE(fs::exists(work_ + "/case_paths.json"));
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
  EXPECT_TRUE(fs::exists(scratch_ / "checked/case_paths.json"));
  EXPECT_EQ(run_voxshard("check " + tree_).exit_code, 2) << "a tree needs --classes";
}

TEST_F(StudyTreeCli, ATrainedRunPredictsUnderTheIdsOfItsCases) {
  const std::string salt = " --id-salt " + (scratch_ / "salt"), run = scratch_ / "run", pred = scratch_ / "pred";
  ASSERT_EQ(run_voxshard(prepare(salt)).exit_code, 0);
  const CommandResult trained =
      run_voxshard("train " + work_ + " -o " + run + " --steps 2 --base-filters 4 --depth 2 --crop 4x8x8 --fold all");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const CommandResult r = run_voxshard("predict " + run + " " + tree_ + " -o " + pred + salt);
  ASSERT_EQ(r.exit_code, 0) << r.err;
  std::set<std::string> cases, predicted;
  for (const auto& file : fs::directory_iterator(work_ + "/images")) cases.insert(file.path().stem());
  std::string all = r.out + r.err;
  for (const auto& file : fs::directory_iterator(pred)) {
    const std::string name = file.path().filename();
    if (name.ends_with(".nii.gz")) predicted.insert(name.substr(0, name.size() - 7));
    if (name != "case_paths.json") all += name + file_text(file.path());
  }
  EXPECT_EQ(predicted, cases);
  for (const char* planted : {"PLANTED", "1.2.840.4711"}) EXPECT_THAT(all, Not(HasSubstr(planted)));
  EXPECT_THAT(file_text(pred + "/case_paths.json"), HasSubstr("PLANTED_P1"));
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

}  // namespace
}  // namespace voxshard
