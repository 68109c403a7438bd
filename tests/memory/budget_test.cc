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

TEST(Budget, ARefusalInAListOfCasesIsOneLineThatSaysWhatToDo) {
  SceneOptions options{.extents = {1, 16, 16, 16}};
  const std::int64_t needed = needed_bytes(options);
  options.budget_bytes = needed * 2 / 3;
  const Error whole(ErrorKind::kBudget, refusal_of(options).text);
  const std::string line = without_allocations(whole.what());
  EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  for (const std::string& part : {"needs " + bytes_text(needed), "the budget is " + bytes_text(options.budget_bytes),
                                  std::string("A partition that fits: 1x")})
    EXPECT_NE(line.find(part), std::string::npos) << line;
  EXPECT_EQ(without_allocations(naming_host_memory(whole, 3 << 20).what()), line + "; or raise {host-memory} to 3MiB");
}

TEST(Budget, TheSuggestedPartitionFits) {
  for (const int part : {85, 66, 50}) {
    SceneOptions options{.extents = {1, 16, 16, 16}, .config = {.base_filters = 2, .depth = 2}};
    options.budget_bytes = needed_bytes(options) * part / 100;
    const std::string text = refusal_of(options).text;
    const std::string lead = "A partition that fits: ";
    ASSERT_NE(text.find(lead), std::string::npos) << text;
    const std::size_t begin = text.find(lead) + lead.size();
    options.partition = text.substr(begin, text.find('\n') - begin);
    EXPECT_NO_THROW(UNetScene(options).session.plan(options.extents, Phase::kTrain)) << options.partition;
  }
}

TEST(Budget, ASizeThatNoKernelCountsIsRefusedBeforeKernelsAreBound) {
  for (const std::int64_t extent : {2048, 4096}) {
    const SceneOptions o{.extents = {1, extent, extent, extent}, .config = {.base_filters = 1, .depth = 1}};
    const Budget budget{.process_bytes = std::int64_t{8} << 30, .of_machine = true};
    try {
      lower_within(budget, scene_graph(o, o.extents, true), op_table(), scene_cut(o), scene_target(o));
      ADD_FAILURE() << extent;
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_EQ(error.kind(), ErrorKind::kBudget) << text;
      EXPECT_NE(text.find("8.00 GiB, what this machine has free; nothing was allocated"), std::string::npos) << text;
      EXPECT_NE(text.find(" would fit"), std::string::npos) << text;
    }
  }
}

TEST(Budget, ARefusedProcessNamesASizeThatFits) {
  SceneOptions o{.extents = {1, 64, 64, 64}};
  const Graph graph = scene_graph(o, o.extents, true);
  Budget budget{.process_bytes = lower(graph, op_table(), scene_cut(o), scene_target(o)).bytes.process() / 6};
  try {
    lower_within(budget, graph, op_table(), scene_cut(o), scene_target(o));
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("about 32x32x32 would fit"), std::string::npos) << error.what();
  }
  o.extents = {1, 32, 32, 32};
  EXPECT_NO_THROW(lower_within(budget, scene_graph(o, o.extents, true), op_table(), scene_cut(o), scene_target(o)));
}

/// A prediction of a scene within a budget under which cores may take turns.
Executable within(const SceneOptions& o, std::int64_t process_bytes) {
  return lower_within({.process_bytes = process_bytes, .may_take_turns = true}, scene_graph(o, o.extents, false),
                      op_table(), scene_cut(o), scene_target(o));
}

TEST(Budget, CoresTakeTurnsOnlyWhereTheyDoNotFitTogetherWithTheSample) {
  const SceneOptions o{.extents = {1, 64, 32, 32}, .partition = "1x4x1x1x1"};
  const std::int64_t sample = 5 * 64 * 32 * 32;
  const std::int64_t all =
      lower(scene_graph(o, o.extents, false), op_table(), scene_cut(o), scene_target(o)).bytes.process();
  EXPECT_FALSE(within(o, all + sample).bytes.takes_turns());
  const Executable turns = within(o, all + sample - 1);
  EXPECT_TRUE(turns.bytes.takes_turns());
  EXPECT_LE(2 * turns.bytes.process(), all - 1);
  EXPECT_GE(turns.bytes.turns.file_bytes, turns.bytes.all_arenas());
}

TEST(Budget, TurnsAreCutFinerUntilTheyFitAndLeaveRowsWhole) {
  const SceneOptions o{.extents = {1, 128, 64, 32}, .config = {.base_filters = 4, .depth = 2}};
  const std::int64_t sample = 5 * 128 * 64 * 32;
  const std::int64_t all =
      lower(scene_graph(o, o.extents, false), op_table(), scene_cut(o), scene_target(o)).bytes.process();
  std::int64_t cores = 1;
  for (const int share : {3, 5, 8}) {
    const Executable turns = within(o, all / share + sample);
    const Mesh& mesh = turns.program.mesh();
    EXPECT_TRUE(turns.bytes.takes_turns());
    EXPECT_LE(turns.bytes.process(), all / share / 2);
    EXPECT_GE(mesh.cores(), cores) << to_string(mesh.partition);
    EXPECT_EQ(mesh.partition[3], 1) << to_string(mesh.partition);
    cores = mesh.cores();
  }
  EXPECT_GT(cores, 2);
}

TEST(Budget, ASampleThatIsOverTheBudgetByItselfIsRefused) {
  const SceneOptions o{.extents = {1, 64, 32, 32}};
  EXPECT_THROW(within(o, 4 * 64 * 32 * 32), Error);
}

TEST(Budget, SaysWhenNothingFits) {
  SceneOptions options{.extents = {1, 4, 4, 4}, .config = {.base_filters = 2, .depth = 2}, .budget_bytes = 1000};
  EXPECT_NE(refusal_of(options).text.find("No partition up to 128 cores fits"), std::string::npos);
}

TEST(Budget, NoBudgetMeansNoLimit) {
  SceneOptions options{.extents = {1, 16, 16, 16}};
  EXPECT_NO_THROW(UNetScene(options).session.plan(options.extents, Phase::kTrain));
}

TEST(Budget, AnAverageIsCountedAsOneMoreOfAllParametersAndStates) {
  const SceneOptions o{.extents = {1, 16, 16, 16}};
  Target target = scene_target(o);
  const Executable without = lower(scene_graph(o, o.extents, true), op_table(), scene_cut(o), target);
  target.keeps_average = true;
  const Executable with = lower(scene_graph(o, o.extents, true), op_table(), scene_cut(o), target);
  Parameters parameters = initialise(with.program.graph, 1);
  Optimizer optimizer({.ema = 0.9}, with.program.graph);
  optimizer.begin_average(parameters);
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : optimizer.averages()) bytes += tensor.bytes();
  EXPECT_GT(bytes, 0);
  EXPECT_EQ(with.bytes.widest_core() - without.bytes.widest_core(), bytes);
  EXPECT_EQ(with.bytes.process() - without.bytes.process(), bytes);
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
