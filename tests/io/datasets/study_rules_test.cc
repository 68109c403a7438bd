// The file of rules: every key is read, what is wrong is refused by file, table and key, and series are judged by the
// rules that are given.
#include "io/datasets/study_rules.h"

#include <gtest/gtest.h>

#include "tests/expect_error.h"
#include "tests/io/loop_rules.h"
#include "tests/io/study_files.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

class StudyRulesTest : public testing::Test {
 protected:
  StudyRules read(const std::string& text, const std::string& name = "rules.toml") const {
    folder_.write(name, text);
    return read_study_rules(folder_ / name);
  }
  void expect_refused(const std::string& text, const std::string& piece) const {
    SCOPED_TRACE(text);
    expect_error(ErrorKind::kConfig, piece, [&] { read(text); });
    expect_error(ErrorKind::kConfig, "rules.toml: ", [&] { read(text); });
  }
  ScratchFolder folder_{"rules"};
};

/// A series of 50 slices, 2 mm apart.
DicomSeries chest() {
  DicomSeries series;
  series.common.modality = "CT", series.common.body_part = "CHEST", series.common.kernel = "Br40d\\3";
  series.grid.spacing[2] = 2, series.slices.resize(50);
  return series;
}

TEST_F(StudyRulesTest, EveryKeyIsRead) {
  const StudyRules rules = read(R"(
[studies]
modality = ["CT", "MR"]
body_part = ["CHEST", "ABDO*"]
missing_body_part = "leave"
slices = [40, 2000]
thickness = [0.0, 3.0]
kernel = ["B3*", "Br4*"]
[receive]
aetitle = "VOX SHARD"
port = 104
keep_days = 7
[send]
aetitle = "ORTHANC"
host = "pacs-1.example.org"
port = 4242
)");
  EXPECT_EQ(rules.series.modality, (std::vector<std::string>{"CT", "MR"}));
  EXPECT_EQ(rules.series.body_part.at(1), "ABDO*");
  EXPECT_FALSE(rules.series.takes_missing_body_part);
  EXPECT_EQ(*rules.series.slices, (std::array<std::int64_t, 2>{40, 2000}));
  EXPECT_EQ(*rules.series.thickness_mm, (std::array<double, 2>{0, 3}));
  EXPECT_EQ(rules.series.kernel.size(), 2u);
  EXPECT_EQ(rules.receive->aetitle, "VOX SHARD");
  EXPECT_EQ(rules.receive->port, 104);
  EXPECT_EQ(rules.receive->keep_days, 7);
  EXPECT_EQ(rules.send->aetitle, "ORTHANC");
  EXPECT_EQ(rules.send->host, "pacs-1.example.org");
  EXPECT_EQ(rules.send->port, 4242);
}

TEST_F(StudyRulesTest, EveryTableMayBeMissing) {
  const StudyRules none = read("");
  EXPECT_FALSE(none.series.any());
  EXPECT_FALSE(none.receive || none.send);
  EXPECT_EQ(read("[receive]\n").receive->keep_days, 0) << "kept for ever";
  EXPECT_EQ(read(R"({"studies": {"slices": [1, 2]}})", "rules.json").series.slices->at(1), 2);
  EXPECT_EQ(read("studies:\n  modality: [CT]\n", "rules.yaml").series.modality.at(0), "CT");
}

TEST_F(StudyRulesTest, WhatIsWrongIsRefusedByTableAndKey) {
  expect_refused("[study]\n", "unknown table or key \"study\"");
  expect_refused("studies = 1\n", "studies is no table");
  expect_refused("[studies]\nmodalities = [\"CT\"]\n", "studies.modalities is an unknown key");
  expect_refused("[studies]\nmodality = \"CT\"\n", "studies.modality is no list");
  expect_refused("[studies]\nmodality = []\n", "studies.modality is no list of 1 to 256");
  expect_refused("[studies]\nkernel = [\"" + std::string(65, 'k') + "\"]\n", "studies.kernel holds no plain text");
  expect_refused("[studies]\nkernel = [\"a\\u001b[2J\"]\n", "studies.kernel holds no plain text");
  expect_refused("[studies]\nmissing_body_part = \"maybe\"\n", "neither \"take\" nor \"leave\"");
  expect_refused("[studies]\nslices = 40\n", "studies.slices is no pair");
  expect_refused("[studies]\nslices = [40, 20]\n", "studies.slices has its least above its most");
  expect_refused("[studies]\nslices = [0, 20]\n", "studies.slices holds no whole number of 1 to");
  expect_refused("[studies]\nslices = [1.5, 20]\n", "studies.slices holds no whole number");
  expect_refused("[studies]\nthickness = [nan, 3]\n", "studies.thickness holds no number of 0 to 1000");
  expect_refused("[receive]\nport = 65536\n", "receive.port holds no whole number of 1 to 65535");
  expect_refused("[receive]\nkeep_days = -1\n", "receive.keep_days holds no number of 0 to 36500");
  expect_refused("[send]\naetitle = \"A\"\nport = 1\n", "send.host is missing");
  for (const LoopRule& rule : refused_loop_rules()) expect_refused(loop_rules(rule), rule.table + "." + rule.key + " ");
}

TEST_F(StudyRulesTest, WhatTheOtherReaderOfTheLoopTakesIsTaken) {
  for (const LoopRule& rule : allowed_loop_rules())
    EXPECT_NO_THROW(read(loop_rules(rule))) << rule.key << " = " << rule.value;
}

TEST_F(StudyRulesTest, ASeriesIsJudgedByTheRulesThatAreGivenInTheirOrder) {
  EXPECT_EQ(broken_rule({}, chest()), "");
  EXPECT_EQ(broken_rule({.modality = {"mr", "ct"}}, chest()), "");
  EXPECT_EQ(broken_rule({.modality = {"C*"}}, chest()), "modality") << "no pattern";
  EXPECT_EQ(broken_rule({.body_part = {"abdomen", "che?t"}}, chest()), "");
  EXPECT_EQ(broken_rule({.body_part = {"ABDOMEN"}}, chest()), "body_part");
  EXPECT_EQ(broken_rule({.slices = {{50, 50}}}, chest()), "");
  EXPECT_EQ(broken_rule({.slices = {{51, 60}}}, chest()), "slices");
  EXPECT_EQ(broken_rule({.slices = {{1, 49}}}, chest()), "slices");
  EXPECT_EQ(broken_rule({.thickness_mm = {{0, 2}}}, chest()), "");
  EXPECT_EQ(broken_rule({.thickness_mm = {{0, 1.99}}}, chest()), "thickness");
  EXPECT_EQ(broken_rule({.kernel = {"b3*", "br4*"}}, chest()), "");
  EXPECT_EQ(broken_rule({.kernel = {"b7*"}}, chest()), "kernel");
  EXPECT_EQ(broken_rule({.modality = {"MR"}, .slices = {{1, 2}}, .kernel = {"x"}}, chest()), "modality");
}

TEST_F(StudyRulesTest, FilesAreJudgedByTheirHeaders) {
  for (int z = 0; z < 3; ++z) {
    DicomSpec slice{.instance = "1.2.3.1." + std::to_string(z), .body_part = "ABDOMEN"};
    slice.kernel = "B30f\\2", slice.position = {{0, 0, 2.5 * z}};
    write_study_file(folder_.path() / "study" / std::to_string(z), dicom_bytes(slice, {1, 2, 3, 4}));
  }
  const auto found = find_dicom_series(folder_.path() / "study");
  ASSERT_EQ(found->series.size(), 1u);
  const DicomSeries& series = found->series[0];
  EXPECT_EQ(broken_rule({.modality = {"CT"},
                         .body_part = {"abdomen"},
                         .slices = {{3, 3}},
                         .thickness_mm = {{2.5, 2.5}},
                         .kernel = {"b30f"}},
                        series),
            "");
  EXPECT_EQ(broken_rule({.body_part = {"HEAD"}}, series), "body_part");
}

TEST_F(StudyRulesTest, ADistanceThatPositionsRoundIsThatOfTheRule) {
  DicomSeries series = chest();
  series.grid.spacing[2] = 3.0000004;
  EXPECT_EQ(broken_rule({.thickness_mm = {{0, 3}}}, series), "");
}

TEST_F(StudyRulesTest, AMissingBodyPartIsTakenUnlessTheRulesLeaveIt) {
  DicomSeries series = chest();
  series.common.body_part = " ";
  EXPECT_EQ(broken_rule({.body_part = {"CHEST"}}, series), "");
  EXPECT_EQ(broken_rule({.body_part = {"CHEST"}, .takes_missing_body_part = false}, series), "body_part");
  EXPECT_EQ(broken_rule({.takes_missing_body_part = false}, series), "") << "no rule asks for a part";
}

}  // namespace
}  // namespace voxshard
