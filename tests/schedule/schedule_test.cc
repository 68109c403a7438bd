// The schedule of a program: the work between two barriers, the barriers, and where partial results are added.
#include "libcore/schedule/schedule.h"

#include <set>

#include "libcore/graph/autodiff.h"
#include "tests/partition/partition_scene.h"

namespace voxshard {
namespace {

using namespace test;

/// Returns a program of a convolution, the sum of its result, and its weight gradient.
Program training_program(const Dims& partition_dims) {
  Graph graph = conv_graph({2, 8, 6, 2}, 3);
  Builder b(graph, op_table());
  graph.outputs["loss"] = b.op("sum_all", {graph.outputs.at("y")}, {}, "loss");
  return cut(with_gradient(graph, op_table()), partition_dims);
}

TEST(Schedule, EveryInstructionBehindThePrologueStandsOnceAndInOrder) {
  for (const Dims& dims : {Dims{1, 1, 1, 1}, Dims{1, 2, 1, 1}, Dims{2, 2, 2, 1}, Dims{1, 16, 1, 1}}) {
    const Program program = training_program(dims);
    std::size_t next = program.prologue;
    for (const ScheduleStep& step : schedule_of(program, op_table()).steps)
      for (std::size_t index : step.instructions) EXPECT_EQ(index, next++) << to_string(dims);
    EXPECT_EQ(next, program.instructions.size());
  }
}

TEST(Schedule, WhatMovesBetweenCoresIsABarrierAndStandsAlone) {
  const Program program = training_program({1, 2, 1, 1});
  int barriers = 0;
  for (const ScheduleStep& step : schedule_of(program, op_table()).steps)
    for (std::size_t index : step.instructions) {
      const InstructionKind kind = program.instructions[index].kind;
      const bool moves = kind == InstructionKind::kJoin || kind == InstructionKind::kExchange;
      EXPECT_TRUE(!moves || step.barrier) << index;
      EXPECT_TRUE(!step.barrier || step.instructions.size() == 1) << index;
      barriers += step.barrier ? 1 : 0;
    }
  EXPECT_GE(barriers, 3) << "the image's halo, the loss, the weight gradient";
}

TEST(Schedule, ASumTakesEachPartialResultOnceInTheOrderOfCoresAndBlocks) {
  const Program program = training_program({2, 2, 2, 1});
  const Schedule schedule = schedule_of(program, op_table());
  int sums = 0;
  for (std::size_t i = 0; i < program.instructions.size(); ++i)
    for (const Sum& sum : schedule.sums[i]) {
      ++sums;
      ASSERT_EQ(program.instructions[i].kind, InstructionKind::kJoin);
      const Instruction& compute = program.instructions[i - 1];
      std::size_t blocks = 0;
      for (const auto& list : compute.blocks) blocks += list.size();
      EXPECT_EQ(sum.addends.size(), blocks) << "all add to the whole result";
      EXPECT_EQ(sum.box, Box::whole(program.graph.node(compute.value).type.shape));
      for (std::size_t k = 1; k < sum.addends.size(); ++k)
        EXPECT_LT(std::pair(sum.addends[k - 1].core, sum.addends[k - 1].block),
                  std::pair(sum.addends[k].core, sum.addends[k].block));
    }
  EXPECT_EQ(sums, 2) << "the loss and the weight gradient";
}

TEST(Schedule, ASinglePartialResultWaitsForTheCoresBeforeIt) {
  // The last row lies on core 0 alone: its sum is written in place, into memory that core 1 may still read.
  Graph graph;
  Builder b(graph, op_table());
  const ValueId x = b.input("x", {DType::kF32, {1, 2, 2, 2}});
  const ValueId y = b.op("leaky_relu", {x}, {}, "y");
  const ValueId row = b.op("slice", {y}, SliceAttrs{.axis = 1, .shape = {1, 1, 2, 2}}, "row");
  graph.outputs["sum"] = b.op("channel_sum", {row}, {}, "sum");
  const Program program = cut(graph, {1, 2, 1, 1});
  const Schedule schedule = schedule_of(program, op_table());
  for (const ScheduleStep& step : schedule.steps)
    for (std::size_t at = 0; at < step.instructions.size(); ++at) {
      const Instruction& instruction = program.instructions[step.instructions[at]];
      if (instruction.partial && !needs_join(instruction)) {
        EXPECT_EQ(at, 0u) << "a segment begins with it";
      }
    }
  ASSERT_EQ(schedule.sums.back().size(), 1u);
  EXPECT_EQ(schedule.sums.back()[0].addends.size(), 1u) << "there is nothing to add";
}

}  // namespace
}  // namespace voxshard
