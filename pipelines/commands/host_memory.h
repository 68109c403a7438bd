// What a command may take of this machine's memory, and what it says of it at its end.
//
//   HostMemory memory(options.host_budget_bytes, ranks_here(options.transport));   // before the work: what is resident
//                                                                                  // now is the base
//   task.prepare({.host_budget_bytes = memory.budget_bytes(), .base_bytes = memory.base_bytes()}, progress);
//   add_memory(report, memory, progress);
//   lowering_of(spec, host_budget(core_bytes, host_bytes, ranks_here(options.transport)), target)
#pragma once

#include "libcore/planner/budget.h"
#include "pipelines/engine/requests.h"

namespace voxshard {

class HostMemory {
 public:
  /// 0: what the process holds and its share of what the machine has free, which `ranks_here` processes of the run share;
  /// where nothing tells, no limit.
  HostMemory(std::int64_t budget_bytes, int ranks_here);

  std::int64_t budget_bytes() const { return budget_bytes_; }
  std::int64_t base_bytes() const { return base_bytes_; }
  /// A whole plan, the base included, with the peak that the process has reached.
  /// A peak over the budget is said to `progress` too.
  ProcessReport report(const ProcessPlan& plan, Progress& progress) const;

 private:
  std::int64_t base_bytes_, budget_bytes_;
};

/// Completes what a task reported: the plan gets its base, JSON and text get the plan and the measured peak.
ProcessReport add_memory(TaskReport& report, const HostMemory& memory, Progress& progress);

/// On rank 0 of several what each of them planned and took, [{"rank": 1, "name": "rank 1 on node-b", "memory":
/// {...}}, ...]; else null. All ranks call it. `transport`: null of one process.
nlohmann::ordered_json memory_of_ranks(Transport* transport, const ProcessReport& own);

/// Of a step alone, without what the process holds already. `core_bytes`, `process_bytes`: as they were given, 0 when
/// they were not; the process then may take its share of what the machine has free, and has no limit where nothing
/// tells.
Budget host_budget(std::int64_t core_bytes, std::int64_t process_bytes, int ranks_here);
/// Processes of the run on this host. `transport`: null of one process.
int ranks_here(const Transport* transport);

}  // namespace voxshard
