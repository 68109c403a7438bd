// The budget is hard and known before the first step: a session refuses, says why and what would fit, and that does
// fit.
#include <regex>

#include "libcore/base/text.h"
#include "tests/runtime/unet_scene.h"

namespace voxshard {
namespace {

using namespace test;

struct Refusal {
  std::string text;
  std::int64_t needed = 0;
};

std::int64_t needed_bytes(const SceneOptions& options) {
  UNetScene scene(options);
  return scene.session.plan(scene.extents, Phase::kTrain).bytes.widest_core();
}

Refusal refusal_of(SceneOptions options) {
  UNetScene scene(options);
  try {
    scene.session.plan(scene.extents, Phase::kTrain);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBudget);
    EXPECT_THROW(scene.session.cores(scene.extents, Phase::kTrain), Error) << "and again when asked to allocate";
    return {error.what()};
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

TEST(Budget, ExactlyEnoughIsEnoughAndOneByteLessIsRefused) {
  SceneOptions options{.extents = {1, 16, 16, 16}, .partition = "1x2x1x1x1", .optimizer_slots = 2};
  options.budget_bytes = needed_bytes(options);
  EXPECT_NO_THROW(UNetScene(options).session.plan(options.extents, Phase::kTrain));
  --options.budget_bytes;
  refusal_of(options);
}

TEST(Budget, TheRefusalNamesBytesFiveAllocationsAndAPartition) {
  SceneOptions options{.extents = {1, 16, 16, 16}};
  const std::int64_t needed = needed_bytes(options);
  options.budget_bytes = needed * 2 / 3;
  const std::string text = refusal_of(options).text;
  EXPECT_NE(text.find(std::to_string(needed) + " bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("nothing was allocated"), std::string::npos) << text;
  EXPECT_NE(text.find("the budget is " + bytes_text(options.budget_bytes)), std::string::npos) << text;
  const std::regex allocation("\n  [0-9.]+ [KMG]?i?B[a-z]*  [a-z0-9/_ ()]+  [a-z0-9]+\\[[0-9x]+\\]  unpadded ");
  EXPECT_EQ(std::distance(std::sregex_iterator(text.begin(), text.end(), allocation), std::sregex_iterator()), 5)
      << text;
  EXPECT_NE(text.find("A partition that fits: 1x"), std::string::npos) << text;
}

TEST(Budget, TheSuggestedPartitionFits) {
  for (const int part : {85, 66, 50}) {
    SceneOptions options{.extents = {1, 16, 16, 16}, .config = {.base_filters = 2, .depth = 2}};
    options.budget_bytes = needed_bytes(options) * part / 100;
    const std::string text = refusal_of(options).text;
    const std::string lead = "A partition that fits: ";
    ASSERT_NE(text.find(lead), std::string::npos) << text;
    options.partition = text.substr(text.find(lead) + lead.size());
    EXPECT_NO_THROW(UNetScene(options).session.plan(options.extents, Phase::kTrain)) << options.partition;
  }
}

TEST(Budget, SaysWhenNothingFits) {
  SceneOptions options{.extents = {1, 4, 4, 4}, .config = {.base_filters = 2, .depth = 2}, .budget_bytes = 1000};
  EXPECT_NE(refusal_of(options).text.find("No partition up to 128 cores fits"), std::string::npos);
}

TEST(Budget, NoBudgetMeansNoLimit) {
  SceneOptions options{.extents = {1, 16, 16, 16}};
  EXPECT_NO_THROW(UNetScene(options).session.plan(options.extents, Phase::kTrain));
}

TEST(Budget, WhatACoreNeedsIsItsArenaAndWhatTheProcessHolds) {
  UNetScene scene({.partition = "1x2x1x2x1", .workers = 3, .optimizer_slots = 2});
  const Executable& e = scene.session.plan(scene.extents, Phase::kTrain);
  std::int64_t shared = e.memory.process.bytes + e.memory.parameter_bytes;
  std::int64_t arenas = 0;
  for (const Node& node : e.program.graph.nodes())
    if (node.role == Role::kParameter) shared += 2 * node.type.bytes();
  for (std::size_t core = 0; core < 4; ++core) {
    EXPECT_EQ(e.bytes.core(core), e.memory.arenas[core].bytes + shared);
    arenas += e.memory.arenas[core].bytes;
  }
  EXPECT_EQ(e.bytes.process(), arenas + shared + 3 * e.kernels.workspace_bytes);
}

TEST(BytesText, UsesBinaryUnits) {
  EXPECT_EQ(bytes_text(1023), "1023 bytes");
  EXPECT_EQ(bytes_text(1536), "1.50 KiB");
  EXPECT_EQ(bytes_text(std::int64_t{3} << 29), "1.50 GiB");
}

}  // namespace
}  // namespace voxshard
