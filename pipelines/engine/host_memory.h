// The memory budget of a process on this machine.
//
//   HostMemory memory(budget_bytes, transport.ranks_here());   // before the work: the bytes resident now are the base
//   memory.report(plan, progress);                             // at its end, with the measured peak
//   lowering_of(spec, host_budget(core_bytes, host_bytes, transport.ranks_here()), target)
#pragma once

#include "libcore/planner/budget.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/model_runs/report.h"

namespace voxshard {

class HostMemory {
 public:
  /// A budget of 0 stands for the bytes that the process holds plus its share of the machine's free memory, which
  /// `ranks_here` processes of the run divide evenly; no limit where the system does not report free memory.
  HostMemory(std::int64_t budget_bytes, int ranks_here);

  std::int64_t budget_bytes() const { return budget_bytes_; }
  std::int64_t base_bytes() const { return base_bytes_; }
  /// Returns the report of a whole plan, the base included, with the measured peak of the process. A peak over the
  /// budget is also a warning to `progress`.
  ProcessReport report(const ProcessPlan& plan, Progress& progress) const;

 private:
  std::int64_t base_bytes_, budget_bytes_;
};

/// Returns the budget of a step alone, without the bytes that the process holds already. `core_bytes` and
/// `process_bytes` are as the user gave them, else 0: the process may then take its share of the machine's free memory,
/// or has no limit where the system does not report it.
Budget host_budget(std::int64_t core_bytes, std::int64_t process_bytes, int ranks_here);

}  // namespace voxshard
