// The statements of the original's documentation about memory hold in our model: which sizes fit a core of a TPU v3.
//
// Source: Cloud TPU, "Training with 3D U-Net and spatial partitioning"; reference model in bf16 with Adam.
#include "libcore/memory/report.h"
#include "libcore/ops/op_table.h"
#include "pipelines/planning/run_plan.h"
#include "tests/pipelines/training_scene.h"

namespace voxshard {
namespace {

constexpr double kGiB = 1 << 30;

PlanReport planned(const Shape& extents, std::int64_t cores, std::int64_t core_budget_bytes = 0) {
  NoProgress progress;
  return run_plan({.extents = extents,
                   .device = device_from_name("tpu-v3"),
                   .cores = cores,
                   .exactly = true,
                   .core_budget_bytes = core_budget_bytes,
                   .threads = 2},
                  progress);
}

/// Bytes of the widest core without recomputation.
std::int64_t core_bytes(const Shape& extents, const Mesh& mesh) {
  const Graph graph = build_graph({}, extents, Phase::kTrain, DType::kBF16);
  return lower_to_memory(step_graph(graph, op_table(), Recompute::kNone), op_table(), {.mesh = mesh},
                         {.tiled = true, .optimizer_slots = 2})
      .bytes.widest_core();
}

TEST(Statements, A256CubeDoesNotFitOneCore) {
  const Candidate plain = planned({1, 256, 256, 256}, 1).candidates.front();
  ASSERT_EQ(plain.cut.recompute, Recompute::kNone);
  EXPECT_EQ(plain.verdict, Verdict::kOver);
  EXPECT_GT(static_cast<double>(plain.core_bytes), 16 * kGiB) << "not even if nothing were reserved";
}

TEST(Statements, WithOurRecomputationA256CubeFitsOneCore) {
  const PlanReport r = planned({1, 256, 256, 256}, 1);
  EXPECT_NE(r.chosen().cut.recompute, Recompute::kNone);
  EXPECT_TRUE(r.chosen().fits());
  EXPECT_NEAR(static_cast<double>(r.core_budget_bytes), 15.48 * kGiB, 0.01 * kGiB);
}

TEST(Statements, A256CubeFitsOver16CoresHoweverTheyAreCut) {
  const PlanReport r = planned({1, 256, 256, 256}, 16);
  EXPECT_EQ(r.chosen().cut.recompute, Recompute::kNone);
  int plain = 0;
  for (const Candidate& c : r.candidates) {
    if (c.cut.recompute != Recompute::kNone || c.cut.thinnest_slab > 0) continue;
    ++plain;
    EXPECT_TRUE(c.fits()) << to_string(c.cut.mesh.partition) << ": " << reason_text(c);
  }
  EXPECT_EQ(plain, 15) << "2^i x 2^j x 2^k with i + j + k = 4";
}

TEST(Statements, Four128CubesFitOneCoreAndEightDoNot) {
  const std::int64_t usable = device_from_name("tpu-v3").device->core_bytes();
  const Mesh one{.partition = {1, 1, 1, 1, 1}};
  EXPECT_LE(core_bytes({4, 128, 128, 128}, one), usable);
  EXPECT_GT(core_bytes({8, 128, 128, 128}, one), usable);
}

TEST(Statements, ThePublishedConfigurationsFit) {
  const std::int64_t usable = device_from_name("tpu-v3").device->core_bytes();
  // v3-8: batch 32 of 128^3, one core a replica. v3-128: batch 32 of 256^3, 16 cores a replica.
  EXPECT_LE(core_bytes({32, 128, 128, 128}, {.replicas = 8, .partition = {1, 1, 1, 1, 1}}), usable);
  EXPECT_LE(core_bytes({32, 256, 256, 256}, {.replicas = 8, .partition = {1, 16, 1, 1, 1}}), usable);
}

}  // namespace
}  // namespace voxshard
