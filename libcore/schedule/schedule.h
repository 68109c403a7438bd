// The order in which a core set runs a program, as data: the runtime executes it, the host model prices it.
//
//   prologue   instructions that read parameters only and are independent
//   segment    instructions without communication: every core runs them at its own pace, its blocks are tasks
//   barrier    one instruction that involves all cores, or that the process runs once (packing weights): the workers
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
  std::vector<std::size_t> instructions;  // in order; a barrier has one
};

/// A block of a compute instruction, identified by the core that runs it and its index there.
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
  /// Per instruction; filled for joins. Without needs_join for the compute before a join, its one partial result is the
  /// sum and is already in place.
  std::vector<std::vector<Sum>> sums;
};

Schedule schedule_of(const Program& program, const OpTable& ops);

}  // namespace voxshard
