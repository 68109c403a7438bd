// Tests of the report of a core's memory, on a graph with bytes known by hand and on U-Nets whose parts must add up.
#include "libcore/memory/report.h"

#include "libcore/graph/autodiff.h"
#include "tests/runtime/unet_scene.h"

namespace voxshard {
namespace {

using namespace test;

/// x (1, 6, 6, 4) -> 3 x 3 convolution c -> relu -> sum, with the gradient of the weights. Without margins each of x,
/// c, relu and their gradients has 6 x 6 x 4 x 4 = 576 bytes; x is held with a margin of one.
Program chain(std::int64_t parts, bool training = true) {
  Graph graph;
  Builder b(graph, op_table());
  const ValueId x = b.input("x", {DType::kF32, {1, 6, 6, 4}});
  const ValueId w = b.parameter("w", {DType::kF32, {3, 3, 4, 4}});
  const ValueId c = b.op("conv", {x, w}, ConvAttrs{.window = {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}}, "c");
  const ValueId loss = b.op("sum_all", {b.op("leaky_relu", {c}, ActivationAttrs{.slope = 0.5}, "relu")}, {}, "loss");
  graph.outputs["loss"] = loss;
  if (training) differentiate(b, loss);
  return partition(graph, op_table(), {.mesh = {.partition = {1, parts, 1, 1}}});
}

MemoryReport report_of(const Program& program, bool tiled, std::size_t core = 0) {
  return memory_report(program, plan_memory(program, op_table(), {.tiled = tiled}), core);
}

const std::string& op_of(const Program& program, const std::string& layer) {
  return program.graph.node(program.graph.find(layer)).op;
}

TEST(MemoryReport, OfAnUncutChainByHand) {
  const Program program = chain(1);
  const MemoryReport r = report_of(program, false);
  // The widest moment is the first gradient: x (8 x 8 with its margin), c and relu are kept, the gradient of relu is
  // made.
  EXPECT_EQ(op_of(program, r.widest_layer), "broadcast_like") << r.widest_layer;
  EXPECT_EQ(r.kept_bytes, 3 * 576);
  EXPECT_EQ(r.transient_bytes, 576);
  EXPECT_EQ(r.halo_bytes, 8 * 8 * 4 * 4 - 576);
  EXPECT_EQ(r.partial_bytes, 0);
  EXPECT_EQ(r.gap_bytes, 0);
  EXPECT_EQ(r.arena_bytes, 1024 + 3 * 576);
  EXPECT_EQ(r.parameter_bytes, 3 * 3 * 4 * 4 * 4);
  EXPECT_EQ(r.gradient_bytes, 576);
  EXPECT_EQ(r.replicated_bytes, 64)
      << "the loss, in a cache line; its own gradient of 1 is gone before that of w is made";
}

TEST(MemoryReport, OfACutChainByHand) {
  const MemoryReport r = report_of(chain(2), false);
  // Rows -1 to 3 of x, of which 0 to 2 are its own; 288 bytes of the others in 5 cache lines.
  EXPECT_EQ(r.kept_bytes, 288 + 320 + 320);
  EXPECT_EQ(r.transient_bytes, 320);
  EXPECT_EQ(r.halo_bytes, 5 * 8 * 4 * 4 - 288);
  EXPECT_EQ(r.arena_bytes, 640 + 3 * 320 + r.gap_bytes);
  EXPECT_EQ(r.parameter_bytes, 576) << "not cut";
}

TEST(MemoryReport, OfAPredictionNothingIsKeptForABackwardPass) {
  const MemoryReport r = report_of(chain(1, false), false);
  EXPECT_EQ(r.kept_bytes, 0);
  EXPECT_EQ(r.transient_bytes,
            2 * 576);  // x and c at the convolution; c and relu after it are less, for want of a margin
  EXPECT_EQ(r.halo_bytes, 1024 - 576);
  EXPECT_EQ(r.gradient_bytes, 0);
}

TEST(MemoryReport, InTilesMarginsAreThoseBetweenCores) {
  EXPECT_EQ(report_of(chain(1), true).halo_bytes, 0);
  const MemoryReport cut = report_of(chain(2), true);
  EXPECT_EQ(cut.halo_bytes, 4 * 4 * 8 * 128 / 4);  // x: 4 rows, 6 columns to 8, 4 channels to 128; one row of four
}

TEST(MemoryReport, TheWidestCoreHasTheWidestArena) {
  const Program program = chain(3);
  const MemoryPlan plan = plan_memory(program, op_table(), {.tiled = true});
  const Footprint bytes = footprint(plan, {});
  EXPECT_EQ(bytes.widest(), 1u) << "the middle one has two neighbours";
  EXPECT_EQ(bytes.widest_core(), plan.arenas[1].bytes + plan.process.bytes + plan.parameter_bytes);
}

TEST(MemoryReport, ThePartsAddUpToTheArena) {
  for (const char* partition : {"1x1x1x1x1", "1x2x1x1x1", "1x4x2x1x1", "2x1x1x3x1"})
    for (const Recompute recompute : {Recompute::kNone, Recompute::kLevels})
      for (const bool tiled : {false, true}) {
        const Program program = scene_program({.extents = {2, 16, 9, 8},
                                               .partition = partition,
                                               .dtype = DType::kBF16,
                                               .recompute = recompute,
                                               .thinnest_slab = 4});
        const MemoryPlan plan = plan_memory(program, op_table(), {.tiled = tiled});
        for (std::size_t core = 0; core < plan.arenas.size(); ++core) {
          const MemoryReport r = memory_report(program, plan, core);
          EXPECT_EQ(r.core, core);
          EXPECT_EQ(r.kept_bytes + r.transient_bytes + r.halo_bytes + r.partial_bytes + r.gap_bytes, r.arena_bytes);
          EXPECT_EQ(r.arena_bytes, plan.arenas[core].bytes);
          for (const std::int64_t part : {r.kept_bytes, r.transient_bytes, r.halo_bytes, r.partial_bytes, r.gap_bytes})
            EXPECT_GE(part, 0) << partition;
          EXPECT_EQ(r.gradient_bytes + r.replicated_bytes, plan.process.bytes);
          EXPECT_EQ(r.parameter_bytes, plan.parameter_bytes);
          EXPECT_NE(program.graph.find(r.widest_layer), kNoValue);
        }
      }
}

TEST(MemoryReport, EveryGradientIsCountedAndNothingElse) {
  const Program program = scene_program({.partition = "1x2x1x1x1"});
  std::int64_t bytes = 0;
  for (const auto& [parameter, gradient] : program.graph.gradients)
    bytes += (program.graph.node(gradient).type.bytes() + kAlignment - 1) / kAlignment * kAlignment;
  EXPECT_EQ(report_of(program, false).gradient_bytes, bytes);
}

TEST(MemoryReport, RecomputingMoreKeepsLess) {
  for (const bool tiled : {false, true}) {
    std::int64_t before = 0;
    for (const Recompute recompute : {Recompute::kNone, Recompute::kNorms, Recompute::kUpsampling}) {
      const MemoryReport r = report_of(
          scene_program({.extents = {1, 16, 16, 16}, .partition = "1x2x1x1x1", .recompute = recompute}), tiled);
      if (before > 0) {
        EXPECT_LT(r.kept_bytes, before) << recompute_name(recompute);
      }
      before = r.kept_bytes;
    }
  }
}

TEST(MemoryReport, AnUncutUNetHasNoHaloInTilesAndACutOneHas) {
  EXPECT_EQ(report_of(scene_program({.extents = {1, 16, 16, 16}}), true).halo_bytes, 0);
  EXPECT_EQ(report_of(scene_program({.extents = {2, 16, 16, 16}, .partition = "2x1x1x1x1"}), true).halo_bytes, 0)
      << "samples have no neighbours";
  EXPECT_GT(report_of(scene_program({.extents = {1, 16, 16, 16}, .partition = "1x2x1x1x1"}), true).halo_bytes, 0);
}

}  // namespace
}  // namespace voxshard
