// `train --resume RUN`: the run gives its settings; options that contradict it are refused by name, its steps may grow
// or end sooner.
#include "tests/cli/machine/instruction_sets.h"
#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

class ResumeCli : public TrainedCli {
 protected:
  static std::string train(const std::string& run, const std::string& more) {
    return "train " + work() + " -o " + run + kModel + "--crop 16x16x16 --fold all --quiet --schedule constant " + more;
  }
  static std::string last(const std::string& run) { return run + "/checkpoints/last.safetensors"; }
};

TEST_F(ResumeCli, ARunNeedsNoOtherOptionAndItsStepsMayGrow) {
  Folder folder("resume_grow");
  ASSERT_EQ(run_voxshard(train(folder / "whole", "--steps 6 --learning-rate 2e-3 --flip DH")).exit_code, 0);
  ASSERT_EQ(run_voxshard(train(folder / "run", "--steps 3 --learning-rate 2e-3 --flip DH")).exit_code, 0);
  const CommandResult grown = run_voxshard("train --resume " + (folder / "run") + " --steps 6 --json");
  ASSERT_EQ(grown.exit_code, 0) << grown.err;
  EXPECT_EQ(grown.json().at("steps"), 6);
  EXPECT_TRUE(file_text(last(folder / "run")) == file_text(last(folder / "whole")));
  const CommandResult again = run_voxshard("train --resume " + (folder / "run"));
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, testing::HasSubstr("all 6 steps are done"));
  expect_refusal("train --resume " + (folder / "run") + " --steps 5", 5, "config",
                 "--steps is 5 now, and 6 steps are done there, which cannot be taken back; --steps 6 ends the run "
                 "where it is, and predict works now");
}

TEST_F(ResumeCli, WhatContradictsTheRunIsRefusedByName) {
  Folder folder("resume_other");
  ASSERT_EQ(run_voxshard(train(folder / "run", "--steps 2 --learning-rate 2e-3 --preset reference")).exit_code, 0);
  const std::string before = file_text(last(folder / "run")),
                    resume = "train --resume " + (folder / "run") + " --steps 4 ";
  expect_refusal(resume + "--learning-rate 1e-3", 5, "config", "--learning-rate is 0.001 now, and 0.002 there");
  expect_refusal(resume + "--seed 4", 5, "config", "--seed is 4 now, and 0 there");
  expect_refusal(resume + "--crop 16x16x8", 5, "config", "--crop is 16x16x8 now");
  expect_refusal(resume + "--base-filters 8", 5, "config", "--base-filters is 8 now, and 4 there");
  expect_refusal(resume + "--activation leaky_relu", 5, "config", "--activation is 0.01 now");
  expect_refusal(resume + "--restart", 2, "usage", "--restart throws it away");
  expect_refusal("train --resume " + (folder / "nowhere"), 3, "input", "holds no run");
  expect_refusal("train " + (folder / "run"), 2, "usage", "--output is required");
  EXPECT_TRUE(file_text(last(folder / "run")) == before);
  EXPECT_EQ(run_voxshard(resume + "--learning-rate 0.002 --threads 1 --checkpoint-every 1").exit_code, 0)
      << "what agrees is no contradiction";
}

TEST_F(ResumeCli, ARunGoesOnOverAnotherGridAndSaysSo) {
  Folder folder("resume_cut");
  ASSERT_EQ(run_voxshard(train(folder / "run", "--steps 2")).exit_code, 0);
  const CommandResult r =
      run_voxshard("train --resume " + (folder / "run") + " --steps 4 --partition 1x2x1x1x1 --quiet");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err,
              testing::HasSubstr("the run goes on cut otherwise: --partition 1x2x1x1x1 (before: 1x1x1x1x1); equal"));
}

TEST_F(ResumeCli, ReplicasThatANormIsTakenOverAreARunsOwn) {
  Folder folder("resume_replicas");
  ASSERT_EQ(run_voxshard(train(folder / "run", "--steps 2 --batch 2 --replicas 2 --norm batch --norm-scope replica"))
                .exit_code,
            0);
  expect_refusal("train --resume " + (folder / "run") + " --steps 4 --replicas 1", 5, "config",
                 "--replicas is 1 now, and 2 there");
}

TEST_F(ResumeCli, ScopesOfReplicasAreKeptInTheRunAndItGoesOnWithThem) {
  Folder folder("resume_scopes");
  for (const auto& [more, scope] : std::vector<std::pair<std::string, std::string>>{
           {"", "replica"}, {" --norm-scope all --loss-scope all", "all"}}) {
    const std::string options = " --batch 2 --num_shards 2" + more, whole = folder / ("whole_" + scope),
                      run = folder / ("run_" + scope);
    ASSERT_EQ(run_voxshard(train(whole, "--steps 4" + options)).exit_code, 0);
    ASSERT_EQ(run_voxshard(train(run, "--steps 2" + options)).exit_code, 0);
    const auto model = nlohmann::json::parse(file_text(run + "/run.json")).at("model");
    EXPECT_EQ(model.at("norm_scope"), scope);
    EXPECT_EQ(model.at("loss_scope"), scope);
    const CommandResult grown = run_voxshard("train --resume " + run + " --steps 4");
    ASSERT_EQ(grown.exit_code, 0) << grown.err;
    EXPECT_TRUE(file_text(last(run)) == file_text(last(whole)));
  }
}

TEST_F(ResumeCli, ARunOfAnotherVersionIsRefusedByNameWhateverReadsIt) {
  Folder folder("resume_version");
  const std::string run = folder / "run";
  ASSERT_EQ(run_voxshard(train(run, "--steps 2")).exit_code, 0);
  const std::string resume = "train --resume " + run + " --steps 4",
                    version = "has the format \"voxshard 1\"; this program reads \"voxshard 2\" alone";
  const auto with_old = [&](const std::string& name, const std::function<void()>& refused) {
    const std::string now = file_text(run + "/" + name);
    std::string old = now;
    old.replace(old.find("voxshard 2"), 10, "voxshard 1");
    std::ofstream(run + "/" + name) << old;
    refused();
    std::ofstream(run + "/" + name) << now;
  };
  with_old("run.json",
           [&] { expect_refusal(resume, 10, "checkpoint", "run.json " + version + "; train anew in another folder"); });
  with_old("manifest.jsonl", [&] {
    expect_refusal(resume, 3, "input", "manifest.jsonl: " + version + "; remove the folder");
    expect_refusal(train(run, "--steps 2 --restart"), 3, "input", "manifest.jsonl: " + version);
  });
  EXPECT_EQ(run_voxshard(resume).exit_code, 0) << "nothing was changed";
}

TEST_F(ResumeCli, APlannedCutAndARelativePathHoldWhereverTheRunGoesOn) {
  Folder folder("resume_auto");
  const std::string command =
      "cd " + (folder / "") + " && " VOXSHARD_BINARY " train work -o run" + std::string(kModel) +
      "--crop 16x16x16 --fold all --steps 3 --partition auto --cores 2 --device tpu-v3 --quiet >/dev/null";
  fs::copy(work(), folder / "work", fs::copy_options::recursive);
  ASSERT_EQ(std::system(command.c_str()), 0);
  const auto options = nlohmann::json::parse(file_text(folder / "run/run.json")).at("options");
  EXPECT_EQ(options.at("").at(0), folder / "work") << "relative to where it began";
  EXPECT_EQ(options.at("partition").at(0), "auto");
  const CommandResult resumed = run_voxshard("train --json --resume " + (folder / "run") + " --steps 4");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(resumed.json().at("steps"), 4);
}

TEST_F(ResumeCli, AnotherInstructionSetIsSaid) {
  Folder folder("resume_machine");
  ASSERT_EQ(run_voxshard(train(folder / "run", "--steps 2")).exit_code, 0);
  const CommandResult same = run_voxshard("train --resume " + (folder / "run") + " --steps 3");
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_THAT(same.err, testing::Not(testing::HasSubstr("another machine")));
  setenv("ONEDNN_MAX_CPU_ISA", "SSE41", 1);
  const CommandResult other = run_voxshard("train --resume " + (folder / "run") + " --steps 4");
  unsetenv("ONEDNN_MAX_CPU_ISA");
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_THAT(other.err,
              testing::HasSubstr("this is another machine than that of the checkpoint: instructions sse41 (before: "));
}

TEST_F(ResumeCli, TheInstructionSetIsKeptInTheRunAndAnotherIsSaid) {
  const std::vector<std::string> sets = machine_sets();
  if (sets.size() < 2) GTEST_SKIP() << "this processor has one instruction set, " << sets.front();
  Folder folder("resume_set");
  {
    const UseInstructionSet use(sets.back());
    ASSERT_EQ(run_voxshard(train(folder / "run", "--steps 2")).exit_code, 0);
  }
  const auto machine = nlohmann::json::parse(file_text(folder / "run/run.json")).at("machine");
  EXPECT_EQ(machine.at("instruction_set"), sets.back());
  const UseInstructionSet use(sets.front());
  const CommandResult other = run_voxshard("train --resume " + (folder / "run") + " --steps 3");
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_THAT(other.err, testing::HasSubstr("this is another machine than that of the checkpoint: instruction_set " +
                                            sets.front() + " (before: " + sets.back() + ")"));
}

TEST_F(ResumeCli, ADeviceFileIsFoundWhereverTheRunGoesOn) {
  Folder folder("resume_device");
  fs::copy_file(VOXSHARD_SOURCE_DIR "/data/devices/tpu-v3.json", folder / "mine.json");
  const std::string command =
      "cd " + (folder / "") + " && " VOXSHARD_BINARY " train " + work() + " -o run" + kModel +
      "--crop 16x16x16 --fold all --steps 2 --partition auto --cores 2 --device mine.json --quiet >/dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const auto options = nlohmann::json::parse(file_text(folder / "run/run.json")).at("options");
  EXPECT_EQ(options.at("device").at(0), folder / "mine.json");
  const CommandResult resumed = run_voxshard("train --resume " + (folder / "run") + " --steps 3");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
}

}  // namespace
}  // namespace voxshard
