// `voxshard attest` as a hospital's IT uses it: exit codes, the answers of every instruction set of this processor, a
// set that has none, and an end in the middle.
#include <sys/syscall.h>

#include "tests/cli/machine/instruction_sets.h"
#include "tests/cli/process.h"
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class AttestCli : public TrainedCli {
 protected:
  /// A copy of the run, without a golden case.
  AttestCli() { fs::copy(run(), model(), fs::copy_options::recursive); }
  std::string model() const { return scene_ / "model"; }
  json attest(const std::string& options, int exit_code) const {
    const CommandResult r = run_voxshard("attest " + model() + " --json " + options);
    EXPECT_EQ(r.exit_code, exit_code) << r.out << r.err;
    return r.json();
  }
  Folder scene_{"attest"};
};

TEST_F(AttestCli, EachInstructionSetHasAnAnswerOfItsOwn) {
  const std::vector<std::string> sets = machine_sets();
  const UseInstructionSet widest(std::nullopt);
  const json made = attest("--make", 0);
  EXPECT_EQ(made.at("instruction_sets"), sets);
  for (const std::string& set : sets) {
    const UseInstructionSet limited(set);
    const json report = attest("", 0);
    EXPECT_EQ(report.at("instruction_set"), set);
    EXPECT_TRUE(report.at("by_hash")) << report;
    EXPECT_TRUE(report.at("difference").is_null());
  }
  EXPECT_THAT(run_voxshard("attest " + model()).out, HasSubstr("EQUAL: parameters, settings, input, and the answer"));
}

TEST_F(AttestCli, ASetWithoutAnAnswerIsComparedByVoxels) {
  const std::vector<std::string> sets = machine_sets();
  if (sets.size() < 2) GTEST_SKIP() << "this processor has " << sets.front() << " alone";
  {
    const UseInstructionSet narrowest(sets.front());
    EXPECT_EQ(attest("--make", 0).at("instruction_sets"), json::array({sets.front()}));
  }
  const UseInstructionSet widest(std::nullopt);
  const json report = attest("", 0);
  EXPECT_EQ(report.at("reference"), sets.front());
  if (report.at("by_hash")) return;  // this set rounds the case as the other one
  EXPECT_EQ(report.at("difference").at("unit"), "voxels");
  EXPECT_LE(report.at("difference").at("differing"), report.at("difference").at("allowed"));
  EXPECT_THAT(run_voxshard("attest " + model()).out, HasSubstr(" voxels differ from the stored answer"));
}

TEST_F(AttestCli, ExitCodesTellWhatIsMissingThereAndDifferent) {
  const std::string words = "attest " + model();
  expect_refusal(words, 3, "input", "make one with --make");
  expect_refusal(words + " --replace", 2, "usage", "--make");
  attest("--make", 0);
  expect_refusal(words + " --make", 6, "output", "--replace");
  attest("--make --replace", 0);
  fs::remove(model() + "/golden/input/" +
             fs::directory_iterator(model() + "/golden/input")->path().filename().string());
  const json report = attest("", 9);
  EXPECT_FALSE(report.at("equal"));
  EXPECT_EQ(report.at("findings").at(0).at("what"), "file");
  EXPECT_THAT(run_voxshard(words).out, HasSubstr("DIFFERENT: file input/"));
  std::ofstream(model() + "/golden/golden.json") << "{}";
  expect_refusal(words, 9, "mismatch", "golden.json is not as --make wrote it");
  expect_refusal("attest " + (scene_ / "nowhere"), 3, "input", "");
}

TEST_F(AttestCli, LeavesNothingInTmpdir) {
  fs::create_directory(scene_ / "tmp");
  for (const auto& [options, exit_code] : {std::pair("--make", 0), std::pair("", 0), std::pair("--make", 6)}) {
    const CommandResult r = run_voxshard("attest " + model() + " " + options, "", "TMPDIR=" + (scene_ / "tmp"));
    EXPECT_EQ(r.exit_code, exit_code) << r.err;
    EXPECT_TRUE(fs::is_empty(scene_ / "tmp")) << r.command;
  }
}

/// Waits for the first child that a process starts, and until it runs the words of its own; 0: it ended without one.
pid_t child_started_by(pid_t parent) {
  const auto of = [](pid_t process, const std::string& file) {
    std::string line;
    std::getline(std::ifstream("/proc/" + std::to_string(process) + "/" + file), line);
    return line;
  };
  while (fs::exists("/proc/" + std::to_string(parent) + "/exe")) {
    const std::string child = of(parent, "task/" + std::to_string(parent) + "/children");
    if (!child.empty() && of(std::stoi(child), "cmdline") != of(parent, "cmdline")) return std::stoi(child);
  }
  return 0;
}

TEST_F(AttestCli, WhatItStartedEndsWithIt) {
  if (machine_sets().size() < 2) GTEST_SKIP() << "this processor has one set, for which nothing is started";
  for (const int signal : {SIGTERM, SIGKILL}) {
    const UseInstructionSet widest(std::nullopt);
    Process p("attest " + model() + " --make");
    ASSERT_TRUE(p.read_until("golden case: predicted with ")) << p.seen();
    const pid_t child = child_started_by(p.pid());
    ASSERT_GT(child, 0);
    const auto handle = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
    ASSERT_GE(handle, 0) << std::strerror(errno);
    ::kill(child, SIGSTOP);  // it does not end by itself meanwhile
    p.send(signal);
    pollfd ended{.fd = handle, .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&ended, 1, 60'000), 1) << "signal " << signal << ": the prediction goes on";
    ::kill(child, SIGKILL), ::close(handle);
    EXPECT_EQ(p.wait().exit_code, 128 + signal);
  }
}

TEST_F(AttestCli, ARunWithAGoldenCaseIsStillARun) {
  attest("--make", 0);
  EXPECT_EQ(run_voxshard("status " + model()).exit_code, 0);
  EXPECT_EQ(run_voxshard("info " + model()).exit_code, 0);
  const CommandResult resumed = run_voxshard("train --resume " + model() + " --steps 3 --quiet");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  const json report = attest("", 9);
  EXPECT_EQ(report.at("findings").at(0).at("what"), "parameter") << "it was trained on";
}

}  // namespace
}  // namespace voxshard
