// The chain of commands on a DICOM study, without a network, and without a word of who it is.
#include "tests/cli/data/planted_scan.h"
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class PrivacyCli : public TrainedCli {
 protected:
  Folder scratch_{"privacy"};
};

TEST_F(PrivacyCli, TheChainNeedsNoNetwork) {
  write_planted_scan(scratch_ / "study/ct");
  const std::string program = VOXSHARD_BINARY, study = scratch_ / "study", out = scratch_ / "predictions";
  scratch_.write("chain.sh", "set -e\ngrep : /proc/self/net/dev | cut -d: -f1 >" + (scratch_ / "interfaces") + "\n" +
                                 program + " info " + study + "\n" + program + " convert " + study + " -o " +
                                 (scratch_ / "ct.nii.gz") + "\n" + program + " predict " + run() + " " + study +
                                 " -o " + out + "\n" + program + " evaluate " + out + " " + out + "\n");
  const std::string log = scratch_ / "log";
  const int status = std::system(("unshare -n sh " + (scratch_ / "chain.sh") + " >" + log + " 2>&1").c_str());
  if (!fs::exists(scratch_ / "interfaces")) GTEST_SKIP() << "no right to make a network namespace";
  EXPECT_EQ(status, 0) << file_text(log);
  EXPECT_THAT(file_text(scratch_ / "interfaces"), testing::MatchesRegex("[ ]*lo\n")) << "the namespace has a network";
  expect_nobody(file_text(log));
  EXPECT_THAT(file_text(log), HasSubstr("1 predicted"));
}

/// Runs a command in text and in JSON and looks for the planted names.
void expect_nobody_of(const std::string& words, int exit_code) {
  for (const char* form : {"", " --json"}) {
    const CommandResult r = run_voxshard(words + form);
    EXPECT_EQ(r.exit_code, exit_code) << words << r.err;
    expect_nobody(r);
  }
}

TEST_F(PrivacyCli, NobodyIsNamedInAnyOutputLogOrError) {
  write_planted_scan(scratch_ / "whole/ct");
  write_planted_scan(scratch_ / "gap/ct", {.missing = {9, 10}});
  write_planted_scan(scratch_ / "cut/ct");
  fs::resize_file(scratch_ / "cut/ct/IM90", 700);
  write_planted_scan(scratch_ / "twice/a"), write_planted_scan(scratch_ / "twice/b");
  const std::string zip = scratch_ / "named.zip", damaged = scratch_ / "damaged.zip";
  const std::string bytes = archive_bytes("zip", planted_scan({}, true));
  std::ofstream(zip, std::ios::binary) << bytes;
  std::ofstream(damaged, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  struct Input {
    std::string path;
    int info, convert, predict;  // exit codes
  };
  const Input inputs[] = {{scratch_ / "whole", 0, 0, 0}, {zip, 0, 0, 0},     {scratch_ / "gap", 8, 3, 4},
                          {scratch_ / "cut", 8, 3, 4},   {damaged, 3, 3, 3}, {scratch_ / "twice", 8, 3, 4}};
  fs::create_directories(scratch_ / "out");
  int number = 0;
  for (const Input& input : inputs) {
    const std::string out = scratch_ / ("out/" + std::to_string(number++));
    expect_nobody_of("info " + input.path, input.info);
    expect_nobody_of("convert " + input.path + " -o " + out + ".nii", input.convert);
    expect_nobody_of("predict " + run() + " " + input.path + " -o " + out, input.predict);
  }
  // A data set of the converted image, looked at by check.
  fs::create_directories(scratch_ / "out/set/imagesTr"), fs::create_directories(scratch_ / "out/set/labelsTr");
  fs::copy_file(scratch_ / "out/0.nii", scratch_ / "out/set/imagesTr/a_0000.nii");
  fs::copy_file(scratch_ / "out/0.nii", scratch_ / "out/set/labelsTr/a.nii");
  scratch_.write("out/set/dataset.json",
                 R"({"channel_names": {"0": "CT"}, "labels": {"background": 0, "a": 1}, "numTraining": 1,
                     "file_ending": ".nii"})");
  expect_nobody_of("check " + (scratch_ / "out/set") + " --deep", 8);
  expect_nobody_in(scratch_ / "out");
}

}  // namespace
}  // namespace voxshard
