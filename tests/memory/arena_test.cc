// The arena of every core is what the plan says, to the byte, for twelve grids in both precisions: the bytes are
// compared, and memory in which no buffer is alive stays as it was.
#include "libcore/memory/plan.h"

#include <cmath>

#include "libcore/graph/recompute.h"
#include "tests/runtime/unet_scene.h"

namespace voxshard {
namespace {

using namespace test;

struct Grid {
  Shape extents;
  std::string partition;
  std::int64_t replicas = 1;
};

void PrintTo(const Grid& g, std::ostream* out) {
  *out << to_string(g.extents) << " over " << g.replicas << " replicas of " << g.partition;
}

struct Choice {
  Recompute recompute;
  std::int64_t thinnest_slab;
};

void PrintTo(const Choice& c, std::ostream* out) {
  *out << recompute_name(c.recompute) << " slabs of " << c.thinnest_slab;
}

class Arenas : public testing::TestWithParam<std::tuple<Grid, DType, Choice>> {
 protected:
  static SceneOptions checked_arenas() {
    const auto& [grid, dtype, how] = GetParam();
    return {.extents = grid.extents,
            .partition = grid.partition,
            .replicas = grid.replicas,
            .dtype = dtype,
            .config = {.base_filters = 4, .depth = 3},
            .recompute = how.recompute,
            .thinnest_slab = how.thinnest_slab,
            .arenas = ArenaMode::kChecked};
  }
};

TEST_P(Arenas, AreUsedToTheLastPlannedByte) {
  UNetScene scene(checked_arenas());
  CoreSet& cores = scene.session.cores(scene.options.extents, Phase::kTrain);
  feed_all(cores, scene.feed());
  cores.run();
  const MemoryPlan& plan = cores.executable().memory;
  EXPECT_TRUE(verify(plan).empty());
  ASSERT_EQ(static_cast<std::int64_t>(plan.arenas.size()), scene_cut(scene.options).mesh.cores());
  for (std::size_t core = 0; core < plan.arenas.size(); ++core) {
    EXPECT_EQ(cores.high_water_bytes(core), plan.arenas[core].bytes) << "core " << core;
    EXPECT_GT(cores.watch()->written_bytes(core), plan.arenas[core].bytes - kAlignment) << "core " << core;
    std::int64_t last = 0;
    for (const Buffer& buffer : plan.arenas[core].buffers) last = std::max(last, buffer.offset + buffer.bytes);
    EXPECT_EQ(last, plan.arenas[core].bytes) << "core " << core;
  }
}

TEST_P(Arenas, AreNotWrittenBesideTheirBuffers) {
  SceneOptions guarded = checked_arenas();
  guarded.guard_bytes = 4 * kAlignment;
  UNetScene scene(guarded);
  CoreSet& cores = scene.session.cores(scene.options.extents, Phase::kTrain);
  for (int step = 0; step < 2; ++step) {
    feed_all(cores, scene.feed());
    cores.run();  // throws if the watch finds a fault
  }
  EXPECT_TRUE(verify(cores.executable().memory).empty());
  EXPECT_TRUE(std::isfinite(load(cores.replicated(cores.executable().program.graph.outputs.at("loss")), 0)));
}

INSTANTIATE_TEST_SUITE_P(
    Grids, Arenas,
    testing::Combine(testing::Values(Grid{{1, 8, 8, 16}, "1x1x1x1x1"}, Grid{{1, 16, 8, 8}, "1x2x1x1x1"},
                                     Grid{{1, 8, 8, 16}, "1x1x2x2x1"}, Grid{{1, 8, 8, 16}, "1x2x2x2x1"},
                                     Grid{{1, 13, 7, 9}, "1x3x1x1x1"}, Grid{{2, 8, 9, 7}, "2x1x3x1x1"},
                                     Grid{{1, 24, 4, 4}, "1x8x1x1x1"}, Grid{{1, 5, 6, 7}, "1x4x2x1x1"},
                                     Grid{{4, 8, 8, 8}, "1x2x1x1x1", 2}, Grid{{3, 6, 5, 7}, "2x1x1x3x1"},
                                     Grid{{2, 21, 18}, "1x2x3x1"}, Grid{{4, 16, 16}, "2x2x2x1"}),
                     testing::Values(DType::kF32, DType::kBF16),
                     testing::Values(Choice{Recompute::kNone, 0}, Choice{Recompute::kNone, 4},
                                     Choice{Recompute::kNorms, 0}, Choice{Recompute::kUpsampling, 2},
                                     Choice{Recompute::kLevels, 0})));

std::int64_t widest_arena(UNetScene& scene, Phase phase) {
  const Footprint& bytes = scene.session.plan(scene.extents, phase).bytes;
  return bytes.arenas[bytes.widest()];
}

TEST(Arenas, RecomputingMoreNeedsLess) {
  std::int64_t before = 0;
  for (Recompute recompute : {Recompute::kNone, Recompute::kNorms, Recompute::kUpsampling}) {
    UNetScene scene({.extents = {1, 16, 16, 16}, .partition = "1x2x1x1x1", .recompute = recompute});
    const std::int64_t bytes = widest_arena(scene, Phase::kTrain);
    if (before > 0) {
      EXPECT_LT(bytes, before) << recompute_name(recompute);
    }
    before = bytes;
  }
}

TEST(Arenas, AFinerCutNeedsSmallerArenas) {
  std::int64_t before = 0;
  for (const char* partition : {"1x1x1x1x1", "1x2x1x1x1", "1x2x1x2x1", "1x2x2x2x1"}) {
    UNetScene scene({.extents = {1, 16, 16, 16}, .partition = partition});
    const std::int64_t bytes = widest_arena(scene, Phase::kTrain);
    if (before > 0) {
      EXPECT_LT(bytes, before) << partition;
    }
    before = bytes;
  }
}

TEST(Arenas, PredictionNeedsLessThanTraining) {
  UNetScene scene({.extents = {1, 16, 16, 16}, .partition = "1x2x1x1x1"});
  EXPECT_LT(widest_arena(scene, Phase::kPredict), widest_arena(scene, Phase::kTrain));
}

}  // namespace
}  // namespace voxshard
