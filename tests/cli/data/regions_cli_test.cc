// `voxshard evaluate` with regions and with classes that were not annotated in every case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_voxshard.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

/// A generated data set of three cases; its label maps are their own predictions.
class RegionsCli : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder("regions_cli");
    ASSERT_EQ(run_voxshard("demo " + data() + " --cases 3 --test 1 -q").exit_code, 0);
  }
  static void TearDownTestSuite() { delete folder_; }
  static std::string data() { return *folder_ / "data"; }
  static std::string evaluate() { return "evaluate " + data() + "/labelsTr " + data() + "/labelsTr "; }

  static Folder* folder_;
};
Folder* RegionsCli::folder_ = nullptr;

TEST_F(RegionsCli, UnionsAreScoredBesideTheClasses) {
  const CommandResult r = run_voxshard(evaluate() + "--dataset " + data() + " --region 'pair=1,2;third=3' " +
                                       "--metrics dice,nsd -o " + (*folder_ / "summary.json") + " --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const auto classes = r.json().at("classes");
  const auto& pair = classes.at(classes.size() - 2);
  EXPECT_EQ(pair.at("name"), "pair");
  EXPECT_EQ(pair.at("labels"), nlohmann::json({1, 2}));
  EXPECT_EQ(pair.at("dice"), 1.0);
  EXPECT_THAT(file_text(*folder_ / "summary.json"), HasSubstr("\"(1, 2)\": {"));
  EXPECT_THAT(run_voxshard(evaluate() + "--region pair=1,2").out, HasSubstr("pair (1, 2)"));
  for (const char* wrong : {"--region 1,2", "--region a=0", "--region a=1,1"}) {
    const CommandResult refused = run_voxshard(evaluate() + wrong);
    EXPECT_EQ(refused.exit_code, 2) << wrong;
    EXPECT_THAT(refused.err, HasSubstr("--region")) << wrong;
  }
}

TEST_F(RegionsCli, AClassHasNoScoreWhereItWasNotAnnotated) {
  const std::string copy = *folder_ / "copy";
  std::filesystem::copy(data(), copy, std::filesystem::copy_options::recursive);
  auto json = nlohmann::json::parse(file_text(copy + "/dataset.json"));
  std::string first;
  for (const auto& [name, label] : json.at("labels").items())
    if (label == 1) first = name;
  json["annotated"] = {{"phantom_000", {first}}};
  std::ofstream(copy + "/dataset.json") << json.dump();
  const CommandResult r = run_voxshard(evaluate() + "--dataset " + copy + " --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.json().at("classes").at(0).at("annotated"), 3);
  EXPECT_EQ(r.json().at("classes").at(1).at("annotated"), 2);
  EXPECT_EQ(r.json().at("classes").at(1).at("n").at("dice"), 2);
  EXPECT_TRUE(r.json().at("cases").at(0).at("dice").at(1).is_null());
  EXPECT_THAT(run_voxshard(evaluate() + "--dataset " + copy).out, HasSubstr("not annotated"));
}

TEST_F(RegionsCli, TwoPredictionsOfOneNameCostTheirCase) {
  const std::string twins = *folder_ / "twins";
  std::filesystem::copy(data() + "/labelsTr", twins);
  const CommandResult nifti = run_voxshard("convert " + twins + "/phantom_000.nii.gz -o " + twins + "/phantom_000.nii");
  ASSERT_EQ(nifti.exit_code, 0) << nifti.err;
  const CommandResult r = run_voxshard("evaluate " + twins + " " + data() + "/labelsTr --json");
  EXPECT_EQ(r.exit_code, 8) << r.err;
  ASSERT_EQ(r.json().at("failures").size(), 1u);
  EXPECT_EQ(r.json().at("failures").at(0).at("code"), "E_DUPLICATE");
}

}  // namespace
}  // namespace voxshard
