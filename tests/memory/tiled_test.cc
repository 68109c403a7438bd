// The plan in a TPU's bytes: tiles of 8 x 128 by hand, no margins outside the tensor, no f64, one partial result a
// core.
#include <gmock/gmock.h>

#include "libcore/memory/plan.h"
#include "libcore/memory/tiles.h"
#include "tests/runtime/unet_scene.h"

namespace voxshard {
namespace {

using namespace test;

/// Bytes of an input of `type` that an op reads, uncut.
std::int64_t bytes_of(const TensorType& type, bool tiled) {
  Graph graph;
  Builder b(graph, op_table());
  const ValueId x = b.input("x", type);
  graph.outputs["y"] = b.op("scale", {x}, ScaleAttrs{.by = 2}, "y");
  const Program program = partition(graph, op_table(), {.mesh = {.partition = Dims::filled(type.shape.axes(), 1)}});
  return plan_memory(program, op_table(), {.tiled = tiled}).arenas[0].find(x)->bytes;
}

TEST(TiledBytes, TheTwoBestAxesArePadded) {
  // 32 channels to 128 lanes, 16 columns are two rows of 8.
  EXPECT_EQ(bytes_of({DType::kBF16, {1, 16, 16, 16, 32}}, true), 2 * 16 * 16 * 16 * 128);
  EXPECT_EQ(bytes_of({DType::kBF16, {1, 16, 16, 16, 32}}, false), 2 * 16 * 16 * 16 * 32);
  EXPECT_EQ(bytes_of({DType::kF32, {1, 8, 128, 8}}, true), 4 * 8 * 128 * 8);            // nothing to pad
  EXPECT_EQ(bytes_of({DType::kBF16, {1, 5, 5, 5, 3}}, true), 2 * 5 * 3 * 8 * 128);      // 5 to 128 and 5 to 8
  EXPECT_EQ(bytes_of({DType::kI32, {1, 16, 16, 16, 1}}, true), 4 * 16 * 1 * 16 * 128);  // 16 to 128
  EXPECT_EQ(bytes_of({DType::kBF16, {4, 128, 128, 128, 32}}, true), 2LL * 4 * 128 * 128 * 128 * 32);
}

TEST(TiledBytes, AnF64IsAnF32There) {
  EXPECT_EQ(bytes_of({DType::kF64, {1, 8, 128, 2}}, true), 4 * 8 * 128 * 2);
  EXPECT_EQ(bytes_of({DType::kF64, {1, 8, 128, 2}}, false), 8 * 8 * 128 * 2);
}

/// image (1, 8, 8, 2) -> 3 x 3 convolution, over `parts` cores along H.
Program convolution(std::int64_t parts) {
  Graph graph;
  Builder b(graph, op_table());
  const ValueId x = b.input("image", {DType::kF32, {1, 8, 8, 2}});
  const ValueId w = b.parameter("w", {DType::kF32, {3, 3, 2, 2}});
  graph.outputs["y"] = b.op("conv", {x, w}, ConvAttrs{.window = {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}}, "y");
  return partition(graph, op_table(), {.mesh = {.partition = {1, parts, 1, 1}}});
}

TEST(TiledBytes, WhatLiesOutsideTheTensorIsNotStored) {
  const Program program = convolution(1);
  const MemoryPlan host = plan_memory(program, op_table(), {}), tpu = plan_memory(program, op_table(), {.tiled = true});
  EXPECT_EQ(host.arenas[0].find(0)->box, (Box{{0, -1, -1, 0}, {1, 10, 10, 2}}));
  EXPECT_EQ(host.arenas[0].find(0)->bytes, 832);  // 10 x 10 x 2 x 4 in whole cache lines
  EXPECT_EQ(tpu.arenas[0].find(0)->box, Box::whole({1, 8, 8, 2}));
  EXPECT_EQ(tpu.arenas[0].find(0)->bytes, 4 * 2 * 8 * 128);
}

TEST(TiledBytes, MarginsInsideTheTensorAreStored) {
  const MemoryPlan plan = plan_memory(convolution(4), op_table(), {.tiled = true});
  EXPECT_EQ(plan.arenas[0].find(0)->box, (Box{{0, 0, 0, 0}, {1, 3, 8, 2}}));
  EXPECT_EQ(plan.arenas[1].find(0)->box, (Box{{0, 1, 0, 0}, {1, 4, 8, 2}}));
  EXPECT_EQ(plan.arenas[3].find(0)->box, (Box{{0, 5, 0, 0}, {1, 3, 8, 2}}));
}

class Tiled : public testing::TestWithParam<std::string> {
 protected:
  Program program() const {
    const SceneOptions options{.extents = {2, 12, 9, 16}, .partition = GetParam(), .dtype = DType::kBF16};
    return scene_program(options);
  }
};

TEST_P(Tiled, NothingIsSmallerThanUnpadded) {
  const Program program = this->program();
  const MemoryPlan plan = plan_memory(program, op_table(), {.tiled = true});
  EXPECT_THAT(verify(plan), testing::IsEmpty());
  for (const Pool& arena : plan.arenas)
    for (const Buffer& buffer : arena.buffers) {
      const Node& node = program.graph.node(buffer.value);
      EXPECT_TRUE(Box::whole(node.type.shape).contains(buffer.box)) << node.name;
      EXPECT_GE(buffer.bytes, buffer.box.count() * device_bytes(node.type.dtype)) << node.name;
    }
  for (const Allocation& a : largest_allocations(program, plan, 0, 1000)) EXPECT_GE(a.expansion(), 1) << a.layer;
}

TEST_P(Tiled, ACoreAddsItsBlocksUpInOnePartialResult) {
  const Program program = this->program();
  const MemoryPlan plan = plan_memory(program, op_table(), {.tiled = true});
  int partials = 0;
  for (const Pool& arena : plan.arenas)
    for (const Buffer& buffer : arena.buffers) {
      EXPECT_LE(buffer.partial, 0) << program.graph.node(buffer.value).name;
      if (buffer.partial < 0) continue;
      ++partials;
      EXPECT_EQ(arena.find(buffer.value, 0), &buffer) << "the only one of " << program.graph.node(buffer.value).name;
    }
  EXPECT_EQ(partials > 0, program.mesh().cores() > 1);
}

TEST_P(Tiled, ParametersArePaddedToo) {
  const Program program = this->program();
  double bytes = 0;
  for (const Node& node : program.graph.nodes())
    if (node.role == Role::kParameter || node.role == Role::kState)
      bytes += tiled_elements(node.type.shape) * static_cast<double>(dtype_bytes(node.type.dtype));
  const MemoryPlan plan = plan_memory(program, op_table(), {.tiled = true});
  EXPECT_EQ(static_cast<double>(plan.parameter_bytes), bytes);
  EXPECT_GT(plan.parameter_bytes, plan_memory(program, op_table(), {}).parameter_bytes);
}

INSTANTIATE_TEST_SUITE_P(Grids, Tiled, testing::Values("1x1x1x1x1", "1x2x1x1x1", "2x1x2x1x1", "1x4x1x2x1"));

}  // namespace
}  // namespace voxshard
