// Tests of VOXSHARD_ISA against the instruction sets that a machine has.
#include "libcore/base/cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

const std::vector<InstructionSet> kOfEpyc3 = {InstructionSet::kAvx2},
                                  kOfEpyc4 = {InstructionSet::kAvx2, InstructionSet::kAvx512,
                                              InstructionSet::kAvx512Bf16};

std::string refusal_of(const char* wanted, const std::vector<InstructionSet>& sets) {
  try {
    allowed_instruction_set(wanted, sets);
    return "none";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kConfig);
    return e.what();
  }
}

TEST(InstructionSets, TheWidestOfTheMachineIsInForceWhereNothingIsWanted) {
  EXPECT_EQ(allowed_instruction_set(nullptr, kOfEpyc4), InstructionSet::kAvx512Bf16);
  EXPECT_EQ(allowed_instruction_set("", kOfEpyc3), InstructionSet::kAvx2);
}

TEST(InstructionSets, EachOfTheMachineCanBeWanted) {
  EXPECT_EQ(allowed_instruction_set("avx2", kOfEpyc4), InstructionSet::kAvx2);
  EXPECT_EQ(allowed_instruction_set("avx512", kOfEpyc4), InstructionSet::kAvx512);
  EXPECT_EQ(allowed_instruction_set("avx512_bf16", kOfEpyc4), InstructionSet::kAvx512Bf16);
}

TEST(InstructionSets, OneAboveTheMachineIsRefusedWithThoseThatItHas) {
  EXPECT_THAT(refusal_of("amx", kOfEpyc4), testing::AllOf(testing::HasSubstr("VOXSHARD_ISA is amx"),
                                                          testing::HasSubstr("it has avx2, avx512, avx512_bf16:")));
  EXPECT_THAT(refusal_of("avx512", kOfEpyc3), testing::HasSubstr("it has avx2:"));
}

TEST(InstructionSets, AnUnknownNameIsRefusedWithTheKnownOnes) {
  for (const char* name : {"AVX2", "avx", "avx512_core", " avx2", "all"})
    EXPECT_THAT(refusal_of(name, kOfEpyc4), testing::HasSubstr("VOXSHARD_ISA is " + std::string(name) +
                                                               "; expected one of avx2, avx512, avx512_bf16, amx"));
  EXPECT_THAT(refusal_of("avx2", {}), testing::HasSubstr("no AVX2 and FMA"));
}

TEST(InstructionSets, ThoseOfThisMachineAreAChainWithoutGaps) {
  const auto& sets = instruction_sets();
  ASSERT_FALSE(sets.empty());
  for (std::size_t i = 0; i < sets.size(); ++i) EXPECT_EQ(static_cast<std::size_t>(sets[i]), i);
  EXPECT_LE(instruction_set(), sets.back());
}

}  // namespace
}  // namespace voxshard
