// Simulates the engine's schedule of one segment: workers take the next task of the lowest core that has one; a core's
// next instruction begins when the last task of its previous instruction has ended.
//
//   HostSchedule schedule(rates, cores);
//   schedule.add(0, 17, {.seconds = 2e-3, .compute = true});    // a task of core 0, instruction 17
//   double end = schedule.run(begin, prices);                   // sets begin_s and end_s of the instructions
#pragma once

#include <algorithm>
#include <vector>

#include "libcore/device/device.h"
#include "libcore/device/host/host_rates.h"

namespace voxshard {

/// Seconds of one task on one worker while all work; `compute` is true when arithmetic limits it, false for memory.
struct HostTask {
  double seconds = 0;
  bool compute = true;
};

/// Tasks that any worker may run in any order, as many at once as there are workers; the total is never shorter than
/// the longest task.
struct TaskPile {
  double total = 0, longest = 0;
  void add(double seconds) {
    total += seconds;
    longest = std::max(longest, seconds);
  }
  /// Returns their time including the barrier around them; 0 when there is nothing to do.
  double seconds(const HostRates& rates) const {
    return total > 0 ? rates.barrier_s + std::max(longest, total / rates.threads) : 0;
  }
};

class HostSchedule {
 public:
  HostSchedule(const HostRates& rates, std::size_t cores) : rates_(rates), lists_(cores) {}

  /// Appends a task. Instructions must come in order; tasks of one instruction of one core may run at once.
  void add(std::size_t core, std::size_t instruction, const HostTask& task);
  /// Runs all tasks that were added, starting at `begin_s`, and returns the end; the schedule is empty afterwards.
  double run(double begin_s, std::vector<InstructionPrice>& prices);

 private:
  struct Stage {
    std::size_t instruction = 0;
    std::vector<HostTask> tasks;
  };
  /// Seconds of a task while `busy` workers work.
  double seconds(const HostTask& task, int busy) const;

  const HostRates& rates_;
  std::vector<std::vector<Stage>> lists_;  // per core
};

}  // namespace voxshard
