// `voxshard doctor` and the instruction set that VOXSHARD_ISA asks for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/machine/instruction_sets.h"

namespace voxshard {
namespace {

using testing::HasSubstr;

TEST(DoctorCli, PrintsTheSetsOfTheMachineAndTheOneInForce) {
  Folder folder("doctor");
  const std::string look = "doctor --check -o " + (folder / "host.json");
  const std::vector<std::string> sets = machine_sets();
  ASSERT_FALSE(sets.empty());
  for (const std::string& set : sets) {
    const UseInstructionSet use(set);
    const CommandResult r = run_voxshard(look + " --json");
    EXPECT_EQ(r.exit_code, 0) << r.err;
    EXPECT_EQ(r.json().at("instruction_set"), set);
    EXPECT_EQ(r.json().at("instruction_sets"), nlohmann::json(sets));
    EXPECT_EQ(r.json().at("self_check").at("differ"), nlohmann::json::array());
    EXPECT_THAT(run_voxshard(look).out, HasSubstr("in force: " + set));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "host.json"));
}

TEST(DoctorCli, TheHelpSaysWhereTheFileIsWritten) {
  const std::string help = run_voxshard("doctor --help-all").out;
  for (const char* place : {"$VOXSHARD_HOST_DEVICE", "$XDG_CONFIG_HOME", "~/.config"})
    EXPECT_THAT(help, HasSubstr(place));
}

TEST(DoctorCli, ASetThatCannotBeHadIsRefusedByEveryCommand) {
  for (const char* words : {"doctor --check --json", "plan --size 16x16x16 --json", "verify --size 8x8x8 --json"}) {
    const UseInstructionSet use("avx3");
    const CommandResult r = run_voxshard(words);
    EXPECT_EQ(r.exit_code, 5) << words;
    EXPECT_EQ(r.json().at("error").at("code"), "E_CONFIG");
    EXPECT_THAT(r.err + r.out, HasSubstr("VOXSHARD_ISA is avx3; expected one of avx2, avx512, avx512_bf16, amx"));
  }
  const std::vector<std::string> sets = machine_sets();
  for (const char* set : {"avx512", "avx512_bf16", "amx"}) {
    if (std::find(sets.begin(), sets.end(), set) != sets.end()) continue;
    const UseInstructionSet use(set);
    EXPECT_EQ(run_voxshard("doctor --check").exit_code, 5) << set;
  }
}

}  // namespace
}  // namespace voxshard
