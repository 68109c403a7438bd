// The flags of the cases of a call: said, listed, kept for the next call, told at the end.
#include "pipelines/tasks/segmentation/quality/case_flags.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "io/files/atomic_file.h"
#include "tests/pipelines/pipeline_scene.h"
#include "tests/pipelines/tasks/segmentation/quality/quality_scene.h"

namespace voxshard {
namespace {

using testing::Contains, testing::ElementsAre, testing::HasSubstr, testing::Not;

/// A folder of predictions by a run of 20 cases of two organs.
struct FlagScene : Scene {
  FlagScene() : Scene("case_flags") {}
  CaseFlags flags(bool keeps = false, bool refers = false, const QualityRanges& ranges = usual_ranges()) {
    return {ranges, kTwoOrgans, {.folder = path(""), .keeps = keeps, .refers = refers}, progress};
  }
  /// A map of 200 x 300 x 400 mm with a cord of 16 ml and a liver of 1500 ml; `parts` of the liver, far apart.
  static Volume map(int parts = 1, bool has_cord = true) {
    Volume labels{Geometry{.size = {20, 30, 40}, .spacing = {10, 10, 10}}, Tensor(DType::kI32, {40, 30, 20})};
    auto* v = labels.voxels.as<std::int32_t>();
    const auto at = [&](int x, int y, int z) -> std::int32_t& { return v[(z * 30 + y) * 20 + x]; };
    for (int z = 1; has_cord && z < 17; ++z) at(2, 2, z) = 1;
    for (int part = 0; part < parts; ++part)
      for (int i = 0; i < 1500 / parts; ++i)
        at(5 + i % 10, 5 + i / 10 % 15, 3 + 15 / parts * part + part + i / 150) = 2;
    return labels;
  }
  std::string list() const { return bytes_of(path("quality.csv")); }
  RecordingProgress progress;
};

std::vector<Quantiles> intensities(float shift = 0) {
  std::vector<Quantiles> channels = usual_facts(1000).channels;
  for (float& value : channels.front()) value += shift;
  return channels;
}

TEST(CaseFlags, AreSaidListedAndTold) {
  FlagScene scene;
  CaseFlags flags = scene.flags(false, true);
  flags.judge("good", FlagScene::map(), intensities(), 0);
  flags.judge("odd", FlagScene::map(3, false), intensities(40), 0);
  EXPECT_THAT(scene.progress.lines, ElementsAre(HasSubstr("case odd: W_ABSENT cord (1) is missing"),
                                                HasSubstr("case odd: W_PARTS liver (2) lies in 3 parts"),
                                                HasSubstr("case odd: W_HISTOGRAM the intensities lie")));
  PredictReport report;
  report.cases = {{"good", "good.nii", 1}, {"odd", "odd.nii", 1}};
  report.failures = {{"torn", "E_READ", "it is cut"}};
  flags.add_to(report);
  const auto& quality = report.found.at("quality");
  ASSERT_EQ(quality.size(), 2u);
  EXPECT_EQ(quality[0], (nlohmann::ordered_json{{"id", "good"}, {"flags", nlohmann::ordered_json::array()}}));
  EXPECT_EQ(quality[1].at("flags").at(0).at("code"), "W_ABSENT");
  EXPECT_EQ(quality[1].at("flags").at(0).at("class"), "cord");
  EXPECT_TRUE(quality[1].at("flags").at(2).at("class").is_null());
  EXPECT_THAT(report.text, HasSubstr("quality: 1 of 2 cases have flags (see "));
  EXPECT_THAT(report.text, HasSubstr("refer: a person should look at\n  odd: W_ABSENT cord (1) is missing; all 20"));
  EXPECT_THAT(report.text, HasSubstr("  torn: E_READ it is cut\n"));
  EXPECT_THAT(report.text, Not(HasSubstr("  good: ")));
  EXPECT_THAT(scene.list(), testing::StartsWith("case,code,class,what\ngood,,,\nodd,W_ABSENT,cord,cord (1) is missing; "
                                                "all 20 training cases with annotations of it have it\n"));
}

TEST(CaseFlags, AFurtherCaseAddsItsRowsAndTheOthersAreNotWrittenAgain) {
  FlagScene scene;
  const auto file_number = [&] {
    struct stat found {};
    EXPECT_EQ(::stat(scene.path("quality.csv").c_str(), &found), 0);
    return found.st_ino;
  };
  CaseFlags flags = scene.flags();
  flags.judge("c", FlagScene::map(), intensities(), 0);
  // A second name keeps the file, so that a new one cannot get its number.
  std::filesystem::create_hard_link(scene.path("quality.csv"), scene.path("first"));
  const auto first = file_number();
  flags.judge("b", FlagScene::map(), intensities(), 0), flags.judge("a", FlagScene::map(), intensities(), 0);
  EXPECT_EQ(file_number(), first) << "all cases were written again";
  EXPECT_EQ(scene.list(), "case,code,class,what\nc,,,\nb,,,\na,,,\n");
  flags.judge("b", FlagScene::map(1, false), intensities(), 0);
  EXPECT_THAT(scene.list(), testing::StartsWith("case,code,class,what\na,,,\nb,W_ABSENT,cord,"));
  EXPECT_THAT(scene.list(), testing::EndsWith("\nc,,,\n")) << "a case that comes again has its rows once";
  flags.drop("a");
  flags.judge("a", FlagScene::map(), intensities(), 0);
  EXPECT_THAT(scene.list(), testing::StartsWith("case,code,class,what\na,,,\nb,")) << "and so has one that was dropped";
  EXPECT_THAT(scene.list(), testing::EndsWith("\nc,,,\n"));
  std::filesystem::remove(scene.path("quality.csv"));  // somebody took it away
  flags.judge("d", FlagScene::map(), intensities(), 0);
  EXPECT_THAT(scene.list(), testing::EndsWith("\nc,,,\nd,,,\n"));
}

TEST(CaseFlags, TextsOfAnEarlierListSteerNoTerminal) {
  FlagScene scene;
  write_text_atomically(scene.path("quality.csv"),
                        "case,code,class,what\nodd,W_\x1b[2J,co\xffrd,gone \x1b]0;x\x07\xe9\n");
  PredictReport told;
  told.cases = {{"odd", "odd.nii", 0}};
  scene.flags(true, true).add_to(told);
  EXPECT_THAT(told.text, HasSubstr("odd: W_\\x1b[2J gone \\x1b]0;x\\x07\\xe9"));
  EXPECT_THAT(told.text, Not(HasSubstr("\x1b")));
  EXPECT_NO_THROW(told.found.dump()) << "it is valid UTF-8";
}

TEST(CaseFlags, OfAnEarlierCallAreKnownUnlessItHadOtherOptions) {
  FlagScene scene;
  CaseFlags first = scene.flags();
  first.judge("odd", FlagScene::map(1, false), intensities(), 0);
  first.judge("good", FlagScene::map(), intensities(), 0);
  const auto told = [&](bool keeps) {
    PredictReport report;
    report.cases = {{"odd", "odd.nii", 0}, {"good", "good.nii", 0}, {"unknown", "unknown.nii", 0}};
    scene.flags(keeps).add_to(report);
    return report;
  };
  const PredictReport kept = told(true);
  ASSERT_EQ(kept.found.at("quality").size(), 2u);
  EXPECT_EQ(kept.found.at("quality")[0].at("flags")[0].at("what"),
            "cord (1) is missing; all 20 training cases with annotations of it have it");
  EXPECT_THAT(kept.text, Not(HasSubstr("refer")));
  EXPECT_TRUE(told(false).found.at("quality").empty());
}

TEST(CaseFlags, AreForgottenWithTheLabelMap) {
  FlagScene scene;
  CaseFlags flags = scene.flags();
  flags.judge("odd", FlagScene::map(1, false), intensities(), 0);
  flags.drop("odd");
  PredictReport report;
  flags.add_to(report);
  EXPECT_EQ(scene.list(), "case,code,class,what\n");
}

TEST(CaseFlags, AListThatSomebodyBrokeCostsTheFlagsOfTheEarlierCallAlone) {
  FlagScene scene;
  std::ofstream(scene.path("quality.csv")) << "";
  CaseFlags flags = scene.flags(true);
  EXPECT_THAT(scene.progress.lines, ElementsAre(HasSubstr("quality: flags of an earlier call are not known: ")));
  flags.judge("good", FlagScene::map(), intensities(), 0);
  EXPECT_EQ(scene.list(), "case,code,class,what\ngood,,,\n");
  std::ofstream(scene.path("quality.csv")) << "id,what\nodd,W_ABSENT\n";
  PredictReport report;
  report.cases = {{"odd", "odd.nii", 0}};
  scene.flags(true).add_to(report);
  EXPECT_TRUE(report.found.at("quality").empty());
}

TEST(CaseFlags, WhatCannotBeJudgedIsSaidOnce) {
  FlagScene scene;
  std::ofstream(scene.path("quality.csv")) << "of another run";
  CaseFlags before(std::nullopt, kTwoOrgans, {.folder = scene.path("")}, scene.progress);
  for (const char* id : {"a", "b"}) before.judge(id, FlagScene::map(), {}, 0);
  PredictReport report;
  before.add_to(report);
  EXPECT_THAT(scene.progress.lines, ElementsAre(HasSubstr("the run does not say what is usual of its training cases")));
  EXPECT_TRUE(report.text.empty() && report.found.is_null());
  EXPECT_FALSE(std::filesystem::exists(scene.path("quality.csv")));
  scene.progress.lines.clear();
  scene.flags(false, false, {.cases = 5});
  EXPECT_THAT(scene.progress.lines, ElementsAre(HasSubstr("trained on 5 cases, and fewer than 8 do not tell")));
  scene.progress.lines.clear();
  QualityRanges rare = usual_ranges();
  rare.classes[2] = {.cases = 4};
  scene.flags(false, false, rare);
  EXPECT_THAT(scene.progress.lines,
              ElementsAre(HasSubstr("no flags are given of liver, which fewer than 8 training cases have")));
}

}  // namespace
}  // namespace voxshard
