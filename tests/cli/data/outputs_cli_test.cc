// predict --write through the command line: exit codes, the document, and words that are refused.
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using OutputsCli = TrainedCli;

TEST_F(OutputsCli, WhatCannotBeWrittenIsListedAndExitsWith8) {
  const std::string out = *folder_ / "objects";
  const CommandResult r =
      run_voxshard("predict " + run() + " " + data() + "/imagesTs -o " + out + " --write dicom-seg,measures --json");
  EXPECT_EQ(r.exit_code, 8) << r.err;
  const nlohmann::json json = r.json();
  EXPECT_EQ(json.at("cases").size(), 1u);
  ASSERT_EQ(json.at("not_written").size(), 1u);
  EXPECT_EQ(json["not_written"][0]["output"], "dicom-seg");
  EXPECT_EQ(json["not_written"][0]["code"], "W_OUTPUT");
  EXPECT_TRUE(std::filesystem::exists(out + "/measures.csv"));
}

TEST_F(OutputsCli, ADryRunSaysSoBefore) {
  const CommandResult r = run_voxshard("predict " + run() + " " + data() + "/imagesTs -o " + (*folder_ / "dry") +
                                       " --write dicom-seg --segments-per-file 2 --dry-run --json");
  EXPECT_EQ(r.exit_code, 8) << r.err;
  EXPECT_EQ(r.json().at("planned").at(0).at("not_written").at(0).at("code"), "W_OUTPUT");
}

TEST_F(OutputsCli, WithMeasuresAloneAllIsWellAndExitsWith0) {
  const std::string out = *folder_ / "measured";
  const CommandResult r =
      run_voxshard("predict " + run() + " " + data() + "/imagesTs -o " + out + " --write measures --json");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_FALSE(r.json().contains("not_written"));
}

TEST_F(OutputsCli, OtherWordsAreRefused) {
  expect_refusal("predict " + run() + " " + data() + "/imagesTs -o " + (*folder_ / "none") + " --write seg", 2, "usage",
                 "--write names \"seg\"; expected some of dicom-seg,measures,sr,rt-struct");
}

}  // namespace
}  // namespace voxshard
