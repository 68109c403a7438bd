// Packed weights live around their layer: what they add to the process pool is far less than all of them, no two that
// are alive share a byte, and the plan says so.
#include "libcore/partition/text.h"
#include "tests/runtime/unet_scene.h"

namespace voxshard {
namespace {

using namespace test;

Executable lowered(const SceneOptions& o) {
  return lower(scene_graph(o, o.extents, true), op_table(), scene_cut(o), scene_target(o));
}

std::int64_t all_packed(const Executable& e) {
  std::int64_t bytes = 0;
  for (std::int64_t packed : e.kernels.packed_bytes()) bytes += packed;
  return bytes;
}

TEST(PackedWeights, LiveFromTheirPackingToTheirOp) {
  for (const char* partition : {"1x1x1x1x1", "1x2x1x2x1"}) {
    const Executable e = lowered({.partition = partition});
    int packs = 0;
    for (int i = 0; i < static_cast<int>(e.program.instructions.size()); ++i) {
      const Instruction& instruction = e.program.instructions[i];
      if (instruction.kind != InstructionKind::kPack) continue;
      ++packs;
      const Buffer* buffer = e.memory.process.find(instruction.value, kPackedWeights);
      ASSERT_NE(buffer, nullptr);
      EXPECT_EQ(buffer->first, i);
      EXPECT_EQ(buffer->last, i + 1);
      EXPECT_EQ(e.program.instructions[static_cast<std::size_t>(i) + 1].kind, InstructionKind::kCompute);
      EXPECT_EQ(e.program.instructions[static_cast<std::size_t>(i) + 1].value, instruction.value);
      EXPECT_GE(buffer->bytes, e.kernels.of(instruction.value).packed_bytes());
    }
    EXPECT_GT(packs, 10);
    EXPECT_TRUE(verify(e.memory).empty());
  }
}

TEST(PackedWeights, AddLessToThePoolThanTheWidestOfThem) {
  const Executable e = lowered({.config = {.base_filters = 8, .depth = 3}});
  std::int64_t widest = 0;
  for (std::int64_t packed : e.kernels.packed_bytes()) widest = std::max(widest, packed);
  EXPECT_LE(e.memory.packed_bytes, widest + kAlignment);
  EXPECT_LT(2 * e.memory.packed_bytes, all_packed(e));
  EXPECT_EQ(e.bytes.packed, e.memory.packed_bytes);
  EXPECT_EQ(e.bytes.results + e.bytes.packed, e.memory.process.bytes);
}

TEST(PackedWeights, TheTextOfThePlanNamesThem) {
  const Executable e = lowered({});
  const std::string text = to_text(e.program, e.memory);
  EXPECT_NE(text.find("packed weights, each around its layer: "), std::string::npos) << text;
  EXPECT_NE(text.find("encoder0/conv0 (packed weights) ["), std::string::npos) << text;
}

TEST(PackedWeights, AreNoneForReferenceKernelsAndForATpu) {
  const Executable e = lowered({.kernels = KernelSet::kReference});
  EXPECT_EQ(e.memory.packed_bytes, 0);
  const SceneOptions o{};
  Target target = scene_target(o);
  target.tiled = true;
  const Lowered tiled = lower_to_memory(step_graph(scene_graph(o, o.extents, true), op_table(), o.recompute),
                                        op_table(), scene_cut(o), target);
  EXPECT_EQ(tiled.memory.packed_bytes, 0);
  for (const Node& node : tiled.program.graph.nodes()) EXPECT_EQ(kernel_of(node.attrs), ConvKernel::kAny) << node.name;
}

TEST(ChosenKernels, AreStatedInTheProgramAlikeForEveryCutAndComeBackFromItsText) {
  const Executable uncut = lowered({.extents = {1, 8, 8, 16}, .partition = "1x1x1x1x1"});
  for (const char* partition : {"1x2x2x2x1", "1x8x1x1x1", "1x1x3x4x1"}) {
    const Executable cut = lowered({.extents = {1, 8, 8, 16}, .partition = partition});
    ASSERT_EQ(cut.program.graph.size(), uncut.program.graph.size());
    int chosen = 0;
    for (ValueId id = 0; id < cut.program.graph.size(); ++id) {
      const ConvKernel kernel = kernel_of(cut.program.graph.node(id).attrs);
      EXPECT_EQ(kernel, kernel_of(uncut.program.graph.node(id).attrs)) << cut.program.graph.node(id).name;
      chosen += kernel != ConvKernel::kAny ? 1 : 0;
    }
    EXPECT_GT(chosen, 20);
    EXPECT_EQ(parse_program(whole_text(cut.program), op_table()), cut.program);
    EXPECT_NE(to_text(cut.program).find(" = conv by library : "), std::string::npos);
  }
}

}  // namespace
}  // namespace voxshard
