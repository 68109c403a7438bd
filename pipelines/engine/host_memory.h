// What a process may take of this machine's memory.
//
//   HostMemory memory(budget_bytes, transport.ranks_here());   // before the work: what is resident now is the base
//   memory.report(plan, progress);                             // at its end, with the measured peak
//   lowering_of(spec, host_budget(core_bytes, host_bytes, ranks_here(options.transport)), target)
#pragma once

#include "libcore/planner/budget.h"
#include "libcore/ranks/transport.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {

class HostMemory {
 public:
  /// 0: what the process holds and its share of what the machine has free, which `ranks_here` processes of the run
  /// share; where nothing tells, no limit.
  HostMemory(std::int64_t budget_bytes, int ranks_here);

  std::int64_t budget_bytes() const { return budget_bytes_; }
  std::int64_t base_bytes() const { return base_bytes_; }
  /// A whole plan, the base included, with the peak that the process has reached. A peak over the budget is said to
  /// `progress` too.
  ProcessReport report(const ProcessPlan& plan, Progress& progress) const;

 private:
  std::int64_t base_bytes_, budget_bytes_;
};

/// The budget of a step alone, without what the process holds already. `core_bytes`, `process_bytes`: as they were
/// given, 0 when they were not; the process then may take its share of what the machine has free, and has no limit
/// where nothing tells.
Budget host_budget(std::int64_t core_bytes, std::int64_t process_bytes, int ranks_here);
/// Processes of the run on this host. `transport`: null of one process.
int ranks_here(const Transport* transport);

}  // namespace voxshard
