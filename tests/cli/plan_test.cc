// The planner on the command line: plan, --partition auto on verify and train, and what is refused.
#include <regex>

#include "tests/cli/trained_cli.h"

namespace voxshard {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kSmall = " --size 16x16x16 --base-filters 2 ";

nlohmann::json planned(const std::string& words) {
  const CommandResult r = run_voxshard("plan --json " + words);
  EXPECT_EQ(r.exit_code, 0) << words << "\n" << r.err;
  return r.json();
}

void expect_equal(const std::string& words) {
  const CommandResult r = run_voxshard("verify --json " + words);
  EXPECT_EQ(r.exit_code, 0) << words << "\n" << r.err;
  EXPECT_EQ(r.json().at("equal"), true) << words << "\n" << r.out;
}

TEST(PlanCli, PrintsOneDocumentForVolumesAndImages) {
  const auto volume = planned("--device tpu-v3 --cores 4" + std::string(kSmall));
  EXPECT_EQ(volume.at("device"), "tpu-v3");
  EXPECT_LE(volume.at("chosen").at("cores"), 4);
  EXPECT_GT(volume.at("time").at("step_seconds"), 0);
  EXPECT_FALSE(volume.contains("candidates"));
  const auto image = planned("--model unet2d --size 64x64 --base-filters 4 --device tpu-v2-8 --batch 2 --explain");
  std::set<std::string> grids;
  for (const auto& c : image.at("candidates")) {
    grids.insert(c.at("partition"));
    EXPECT_LE(c.at("cores"), 8) << "the slice has 8";
    EXPECT_FALSE(c.at("reason").get<std::string>().empty());
  }
  EXPECT_TRUE(grids.contains("1x2x4x1") && grids.contains("1x1x8x1"));
}

TEST(PlanCli, PrintsTablesForPeople) {
  const CommandResult r = run_voxshard("plan --device tpu-v3 --cores 2" + std::string(kSmall));
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(std::regex_search(
      r.out, std::regex("^--partition [0-9x]+ --replicas 1 --recompute none --thinnest-slab [0-9]+\n")))
      << r.out;
  for (const char* piece : {"emulated s a step on", "activations kept for backward", "halo margins",
                            "largest allocations", "expansion", "chosen: fits", "--explain shows all"})
    EXPECT_THAT(r.out, HasSubstr(piece));
  const CommandResult all = run_voxshard("plan --explain --device tpu-v3 --cores 2" + std::string(kSmall));
  EXPECT_THAT(all.out, HasSubstr("fits with less recomputation"));
  EXPECT_THAT(all.out, Not(HasSubstr("--explain shows all")));
}

TEST(PlanCli, WhatPlanPrintsVerifyAccepts) {
  const CommandResult r =
      run_voxshard("plan --device tpu-v3 --memory 11MiB --prefer fewest --cores 8" + std::string(kSmall));
  ASSERT_EQ(r.exit_code, 0) << r.err;
  expect_equal(kSmall + r.out.substr(0, r.out.find('\n')));
}

TEST(PlanCli, NothingFitsExitsWithSevenAndSaysWhatWould) {
  const CommandResult r = run_voxshard("plan --device tpu-v3 --cores 1 --memory 1MiB --json" + std::string(kSmall));
  EXPECT_EQ(r.exit_code, 7) << r.err;
  EXPECT_EQ(r.error_kind(), "budget");
  for (const char* piece : {"nearest is 1x1x1x1x1", "Its largest allocations:", "This would fit: "})
    EXPECT_THAT(r.err, HasSubstr(piece));
}

TEST(PlanCli, UnknownDevicesAndPreferencesAreRefused) {
  expect_refusal("plan --device tpu-v9" + std::string(kSmall), 5, "config", "expected tpu-v2, tpu-v3");
  expect_refusal("plan --device tpu-v3-16" + std::string(kSmall), 5, "config", "has no slice of 16 cores");
  expect_refusal("plan --prefer cheapest" + std::string(kSmall), 2, "usage", "--prefer");
  expect_refusal("plan --device tpu-v3 --memory lots" + std::string(kSmall), 5, "config", "like 1500MiB or 2GiB");
}

TEST(PlanCli, VerifyUnderAPlannedPartitionIsEqual) {
  expect_equal("--partition auto --cores 4 --device tpu-v3" + std::string(kSmall));
  expect_equal("--partition auto --device tpu-v3-8 --host-memory 1GiB --batch 2" + std::string(kSmall));
}

TEST(PlanCli, VerifyWithRecomputationAndMergedSlabsIsEqual) {
  expect_equal("--recompute levels --thinnest-slab 4 --partition 1x8x1x1x1" + std::string(kSmall));
  expect_equal("--recompute upsampling --partition 1x2x2x1x1 --precision f32" + std::string(kSmall));
}

/// tpu-v3-32 with 16 cores a replica.
TEST(PlanCli, ThirtyTwoCoresInTwoReplicasEqualOneCore) {
  expect_equal("--partition 1x4x2x2x1 --replicas 2 --batch 2 --cores 32" + std::string(kSmall));
}

using PlanTraining = TrainedCli;

TEST_F(PlanTraining, TrainsOverAPlannedPartitionAndWritesItDown) {
  Folder folder("planned");
  const CommandResult r =
      run_voxshard("train " + work() + " -o " + (folder / "run") + kModel + kTraining +
                   "--batch 2 --partition auto --cores 4 --device tpu-v3 --host-memory 1GiB --json");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  const auto model = nlohmann::json::parse(file_text(folder / "run/run.json")).at("model");
  const std::string partition = model.at("partition");
  EXPECT_THAT(r.err, HasSubstr("planned partition " + partition + ", " + model.at("replicas").dump() +
                               " replicas, recompute " + model.at("recompute").get<std::string>()));
  std::int64_t cores = model.at("replicas");
  for (const char digit : partition)
    if (digit != 'x') cores *= digit - '0';
  EXPECT_GT(cores, 1);
  EXPECT_LE(cores, 4) << "so small a sample may lie better whole on two replicas than cut";
  expect_refusal("train " + work() + " -o " + (folder / "other") + kModel + kTraining +
                     "--partition auto --cores 4 --device tpu-v3 --host-memory 1MiB",
                 7, "budget", "program and libraries take");
  EXPECT_FALSE(std::filesystem::exists(folder / "other"));
}

TEST_F(PlanTraining, AMemoryTooSmallForTheUncutModelIsMetByThePlan) {
  Folder folder("tight");
  const std::string train = "train " + work() + " -o " + (folder / "run") + kModel + kTraining + "--memory 2MiB ";
  expect_refusal(train, 7, "budget", "nothing was allocated");
  const CommandResult r = run_voxshard(train + "--partition auto --device tpu-v3 --cores 8 --json");
  EXPECT_EQ(r.exit_code, 0) << r.err;
  const auto run_json = nlohmann::json::parse(file_text(folder / "run/run.json"));
  for (const auto& bytes : run_json.at("memory").at("bytes_per_core")) EXPECT_LE(bytes, 2 << 20);
}

TEST_F(PlanTraining, OfAPreparedFolderIsThatOfItsTraining) {
  Folder folder("of_data");
  const std::string how = " --base-filters 4 --depth 3 --precision f32 --device tpu-v3 --host-memory 1GiB ";
  const auto plan = planned(work() + how);
  const CommandResult r =
      run_voxshard("train " + work() + " -o " + (folder / "run") + how + "--partition auto --steps 1 --json");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const auto run = nlohmann::json::parse(file_text(folder / "run/run.json")).at("model");
  for (const char* name : {"partition", "replicas", "recompute"})
    EXPECT_EQ(plan.at("chosen").at(name), run.at(name)) << name;
  EXPECT_EQ(plan.at("data").at("cases"), r.json().at("train_cases"));
  EXPECT_EQ(plan.at("data").at("channels"), run.at("channels"));
  EXPECT_EQ(plan.at("data").at("classes"), run.at("classes"));
  EXPECT_EQ(plan.at("data").at("batch"), 1);
}

TEST_F(PlanTraining, OfDataGivenOptionsWinAndThisMachineIsTheDefault) {
  const auto plan = planned(work() + kModel + "--size 24x16x16 --batch 2 --classes 3 --cores 2");
  EXPECT_EQ(plan.at("data").at("size"), "24x16x16");
  EXPECT_EQ(plan.at("data").at("batch"), 2);
  EXPECT_EQ(plan.at("data").at("classes"), 3);
  const CommandResult text = run_voxshard("plan " + work() + kModel + "--cores 2");
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("for 1 case: samples of "));
  EXPECT_THAT(text.out, HasSubstr(", 1 channel, 5 classes; memory of this machine: "));
  EXPECT_THAT(text.out, HasSubstr("next: voxshard train " + work() + " -o run"));
}

TEST_F(PlanTraining, OfDataThatCannotBeTrainedOnSaysWhy) {
  expect_refusal("plan /nowhere", 3, "input", "/nowhere");
  expect_refusal("plan " + data(), 3, "input", "prepare");
}

}  // namespace
}  // namespace voxshard
