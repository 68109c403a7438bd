// The memory plan: no two buffers that are alive together overlap, hand-made breakage is found, keep_all never needs
// less, the largest allocations are sorted and named.
#include "libcore/memory/plan.h"

#include "tests/runtime/unet_scene.h"

namespace voxshard {
namespace {

using namespace test;

bool any_has(const std::vector<std::string>& lines, const std::string& piece) {
  for (const auto& line : lines)
    if (line.find(piece) != std::string::npos) return true;
  return false;
}

MemoryPlan two_buffers(Buffer a, Buffer b) {
  MemoryPlan plan;
  plan.arenas.resize(1);
  plan.arenas[0].buffers = {a, b};
  plan.arenas[0].bytes = 256;
  return plan;
}

TEST(VerifyMemory, FindsBuffersThatOverlapWhileBothAreAlive) {
  const Buffer a{.value = 1, .offset = 0, .bytes = 128, .first = 0, .last = 4};
  EXPECT_TRUE(any_has(verify(two_buffers(a, {.value = 2, .offset = 64, .bytes = 128, .first = 4, .last = 9})),
                      "%2 and %1 overlap"));
  EXPECT_TRUE(
      any_has(verify(two_buffers(a, {.value = 2, .offset = 0, .bytes = 64, .first = 2, .last = 3})), "overlap"));
  EXPECT_TRUE(verify(two_buffers(a, {.value = 2, .offset = 64, .bytes = 128, .first = 5, .last = 9})).empty());
  EXPECT_TRUE(verify(two_buffers(a, {.value = 2, .offset = 128, .bytes = 128, .first = 0, .last = 9})).empty());
}

TEST(VerifyMemory, FindsOverlapInTheProcessPool) {
  MemoryPlan plan;
  plan.process.buffers = {{.value = 1, .offset = 0, .bytes = 128, .last = 4},
                          {.value = 2, .offset = 64, .bytes = 64, .last = 4}};
  plan.process.bytes = 128;
  EXPECT_TRUE(any_has(verify(plan), "process pool: %2 and %1 overlap"));
}

TEST(VerifyMemory, FindsABufferOutsideItsPoolOrNotAligned) {
  const Buffer a{.value = 1, .offset = 0, .bytes = 64};
  EXPECT_TRUE(any_has(verify(two_buffers(a, {.value = 2, .offset = 192, .bytes = 128, .first = 5, .last = 9})),
                      "outside its pool"));
  EXPECT_FALSE(verify(two_buffers(a, {.value = 2, .offset = 100, .bytes = 64, .first = 5, .last = 9})).empty());
}

TEST(VerifyMemory, FindsAPlanThatWasMovedByHand) {
  const Program program = scene_program({.partition = "1x2x1x1x1"});
  MemoryPlan plan = plan_memory(program, op_table(), {});
  ASSERT_TRUE(verify(plan).empty());
  for (Buffer& buffer : plan.arenas[1].buffers) buffer.offset = 0;
  EXPECT_TRUE(any_has(verify(plan), "arena 1:"));
}

/// Checked here instruction by instruction, not by intervals as verify() does.
TEST(MemoryPlan, AtNoInstructionDoTwoLiveBuffersShareAByte) {
  for (const char* partition : {"1x1x1x1x1", "1x2x1x2x1", "1x3x2x1x1"}) {
    const Program program = scene_program({.extents = {2, 7, 6, 9}, .partition = partition});
    const MemoryPlan plan = plan_memory(program, op_table(), {});
    for (const Pool& arena : plan.arenas) {
      for (int i = 0; i <= static_cast<int>(program.instructions.size()); ++i) {
        std::map<std::int64_t, std::int64_t> live;  // offset -> end
        for (const Buffer& b : arena.buffers)
          if (b.first <= i && i <= b.last && b.bytes > 0) {
            EXPECT_TRUE(live.emplace(b.offset, b.offset + b.bytes).second)
                << "instruction " << i << " of " << partition;
          }
        std::int64_t end = 0;
        for (const auto& [offset, past] : live) {
          EXPECT_GE(offset, end) << "instruction " << i << " of " << partition;
          end = past;
        }
      }
    }
  }
}

TEST(MemoryPlan, AValueLivesFromItsFirstWriterToItsLastReader) {
  const Program program = scene_program({.partition = "1x2x1x1x1"});
  const MemoryPlan plan = plan_memory(program, op_table(), {});
  for (int i = 0; i < static_cast<int>(program.instructions.size()); ++i) {
    const Instruction& instruction = program.instructions[i];
    const Node& node = program.graph.node(instruction.value);
    std::vector<ValueId> touched{instruction.value};
    if (instruction.kind == InstructionKind::kCompute)
      touched.insert(touched.end(), node.inputs.begin(), node.inputs.end());
    if (instruction.kind == InstructionKind::kPack) {
      const auto types = program.graph.input_types(instruction.value);
      const int weights = op_table().at(node.op).packed({node.attrs, types, node.type});
      touched = {node.inputs[weights]};
    }
    for (ValueId id : touched) {
      if (const Buffer* buffer = (program.replicated(id) ? plan.process : plan.arenas[0]).find(id)) {
        EXPECT_LE(buffer->first, i) << program.graph.node(id).name;
        EXPECT_GE(buffer->last, i) << program.graph.node(id).name;
      }
    }
  }
}

TEST(MemoryPlan, OutputsGradientsAndEffectsLiveToTheEnd) {
  const Program program = scene_program({.partition = "1x2x1x1x1"});
  const MemoryPlan plan = plan_memory(program, op_table(), {});
  const int end = static_cast<int>(program.instructions.size());
  for (const auto& [parameter, gradient] : program.graph.gradients) EXPECT_EQ(plan.process.find(gradient)->last, end);
  for (const auto& [state, value] : program.graph.effects) EXPECT_EQ(plan.process.find(value)->last, end);
  EXPECT_EQ(plan.process.find(program.graph.outputs.at("loss"))->last, end);
  EXPECT_EQ(plan.arenas[0].find(program.graph.outputs.at("logits"))->last, end);
}

TEST(MemoryPlan, KeepingAllNeverNeedsLess) {
  for (const char* partition : {"1x1x1x1x1", "1x2x2x1x1", "1x4x1x2x1"}) {
    const Program program = scene_program({.partition = partition});
    const MemoryPlan reused = plan_memory(program, op_table(), {}),
                     kept = plan_memory(program, op_table(), {.keep_all = true});
    EXPECT_TRUE(verify(kept).empty());
    for (std::size_t core = 0; core < kept.arenas.size(); ++core)
      EXPECT_LT(reused.arenas[core].bytes, kept.arenas[core].bytes);
    EXPECT_LE(reused.process.bytes, kept.process.bytes);
    EXPECT_EQ(reused.parameter_bytes, kept.parameter_bytes);
  }
}

TEST(MemoryPlan, ParametersAndStatesAreCountedOnce) {
  const Program program = scene_program({.partition = "1x2x2x1x1"});
  std::int64_t bytes = 0;
  for (const Node& node : program.graph.nodes())
    if (node.role == Role::kParameter || node.role == Role::kState) bytes += element_count(node.type.shape) * 4;
  EXPECT_EQ(plan_memory(program, op_table(), {}).parameter_bytes, bytes);
}

TEST(LargestAllocations, AreSortedAndNameLayersOfTheGraph) {
  const Program program = scene_program({.extents = {1, 16, 16, 16}, .partition = "1x2x1x1x1"});
  const MemoryPlan plan = plan_memory(program, op_table(), {});
  const auto largest = largest_allocations(program, plan, 1, 5);
  ASSERT_EQ(largest.size(), 5U);
  std::int64_t biggest = 0;
  for (const Pool* pool : {&plan.arenas[1], &plan.process})
    for (const Buffer& buffer : pool->buffers) biggest = std::max(biggest, buffer.bytes);
  EXPECT_EQ(largest.front().bytes, biggest);
  for (std::size_t i = 0; i < largest.size(); ++i) {
    if (i > 0) {
      EXPECT_GE(largest[i - 1].bytes, largest[i].bytes);
    }
    const std::string layer = largest[i].layer.substr(0, largest[i].layer.find(" (partial)"));
    EXPECT_NE(program.graph.find(layer), kNoValue) << layer;
    EXPECT_LE(largest[i].unpadded_bytes, largest[i].bytes) << layer;
    EXPECT_GT(largest[i].unpadded_bytes, 0) << layer;
  }
  EXPECT_GT(largest_allocations(program, plan, 0, 100'000).size(), 50U);
}

TEST(MemoryPlan, TextNamesEveryArenaAndTheBuffersOfTheFirst) {
  const Program program = scene_program({.partition = "1x2x1x1x1"});
  const std::string text = to_text(program, plan_memory(program, op_table(), {}));
  for (const char* piece : {"arena 0: ", "arena 1: ", "encoder0/conv0", "process pool: "})
    EXPECT_NE(text.find(piece), std::string::npos) << piece;
}

}  // namespace
}  // namespace voxshard
