// The order in which a core set runs a program, as a value: the runtime runs it, the model of the host prices it.
//
//   prologue   instructions that read parameters only and are independent
//   segment    instructions without communication: every core walks them at its own pace, its blocks are tasks
//   barrier    one instruction that involves all cores, or that the process does once (weights are packed): the workers
//   wait
//              for each other before and after
//
//   for (const ScheduleStep& step : schedule.steps) step.barrier ? run(step.instructions[0]) :
//   run_segment(step.instructions);
#pragma once

#include "libcore/partition/program.h"

namespace voxshard {

/// Elements of a cut sum that one task adds up.
inline constexpr std::int64_t kElementsPerSumTask = 1 << 16;

struct ScheduleStep {
  bool barrier = false;
  std::vector<std::size_t> instructions;  // in order; of a barrier one
};

/// A block of a compute instruction, by the core that runs it.
struct BlockId {
  std::size_t core = 0, block = 0;
};

/// One box of the result of a cut sum and the partial results that are added into it, as a binary tree in this order.
struct Sum {
  Box box;
  std::vector<BlockId> addends;  // in (core, block) order
};

struct Schedule {
  std::vector<ScheduleStep> steps;  // without the prologue
  /// Per instruction; of joins. Where the compute before a join does not need it (needs_join), the one partial result
  /// is the sum and lies where the sum belongs.
  std::vector<std::vector<Sum>> sums;
};

Schedule schedule_of(const Program& program, const OpTable& ops);

}  // namespace voxshard
