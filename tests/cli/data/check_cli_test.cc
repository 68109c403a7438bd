// `voxshard check` as users run it: exit codes, the table for people, JSON, CSV and pictures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;

/// A generated data set of four cases.
class CheckCli : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder("check_cli");
    ASSERT_EQ(run_voxshard("demo " + data() + " --cases 4 --test 1 -q").exit_code, 0);
  }
  static void TearDownTestSuite() { delete folder_; }
  static std::string data() { return *folder_ / "data"; }

  static Folder* folder_;
};
Folder* CheckCli::folder_ = nullptr;

TEST_F(CheckCli, AGeneratedDataSetIsClean) {
  const CommandResult r = run_voxshard("check " + data() + " --deep --json");
  EXPECT_EQ(r.exit_code, 0) << r.out;
  EXPECT_EQ(r.json().at("training"), 4);
  EXPECT_TRUE(r.json().at("findings").empty());
  EXPECT_GT(r.json().at("memory").at("planned_bytes").get<std::int64_t>(), 0);
  const CommandResult quick = run_voxshard("check " + data());
  EXPECT_EQ(quick.exit_code, 0);
  EXPECT_THAT(quick.out, HasSubstr("not checked without --deep: W_HU W_SHIFT W_FIT W_INTENSITY"));
  EXPECT_THAT(quick.out, HasSubstr("next: voxshard check " + data() + " --deep"));
}

TEST_F(CheckCli, FindingsEndWithEight) {
  const std::string copy = *folder_ / "copy", out = *folder_ / "out", csv = *folder_ / "lists/found.csv";
  std::filesystem::copy(data(), copy, std::filesystem::copy_options::recursive);
  std::filesystem::copy_file(copy + "/imagesTr/phantom_000_0000.nii.gz", copy + "/imagesTr/twin_0000.nii.gz");
  std::filesystem::copy_file(copy + "/labelsTr/phantom_000.nii.gz", copy + "/labelsTr/twin.nii.gz");
  std::ofstream(copy + "/imagesTr/phantom_001_0000.nii.gz") << "no image";
  const CommandResult r = run_voxshard("check " + copy + " -o " + out + " --csv " + csv);
  EXPECT_EQ(r.exit_code, 8) << r.err;
  EXPECT_THAT(r.out, HasSubstr("phantom_001\n  E_READ "));
  EXPECT_THAT(r.out, HasSubstr("twin\n  W_DOUBLE the image and the label map of phantom_000 again (001_W_DOUBLE.png)"));
  EXPECT_THAT(r.out, HasSubstr("2 findings in 2 cases of 5 training and 1 test cases"));
  EXPECT_THAT(r.out, HasSubstr("  W_DOUBLE: keep one of the two"));
  EXPECT_TRUE(std::filesystem::exists(out + "/001_W_DOUBLE.png"));
  EXPECT_THAT(file_text(csv), HasSubstr("twin,W_DOUBLE,"));
  const auto json = run_voxshard("check " + copy + " --json").json();
  EXPECT_EQ(json.at("findings").at(0).at("severity"), "error");
  EXPECT_EQ(json.at("findings").at(1).at("other"), "phantom_000");
  EXPECT_EQ(run_voxshard("check " + copy + " -o " + out).exit_code, 8) << "the folder is its own";
}

TEST_F(CheckCli, WhatIsNoDataSetIsRefused) {
  EXPECT_EQ(run_voxshard("check /nowhere").exit_code, 3);
  EXPECT_EQ(run_voxshard("check").exit_code, 2);
  std::filesystem::create_directories(*folder_ / "empty");
  EXPECT_EQ(run_voxshard("check " + (*folder_ / "empty")).exit_code, 4);
  const CommandResult inside = run_voxshard("check " + data() + " -o " + data() + "/checked");
  EXPECT_EQ(inside.exit_code, 2);
  EXPECT_THAT(inside.err, HasSubstr("choose a place of its own with -o"));
  EXPECT_FALSE(std::filesystem::exists(data() + "/checked"));
  folder_->write("notes.csv", "a,b\n");
  EXPECT_EQ(run_voxshard("check " + data() + " --csv " + (*folder_ / "notes.csv")).exit_code, 6);
  EXPECT_EQ(file_text(*folder_ / "notes.csv"), "a,b\n");
}

}  // namespace
}  // namespace voxshard
