#include "pipelines/commands/host_memory.h"

#include "io/system/process_memory.h"

namespace voxshard {

HostMemory::HostMemory(std::int64_t budget_bytes) : budget_bytes_(budget_bytes), base_bytes_(resident_bytes()) {
  const std::int64_t free = budget_bytes == 0 ? available_memory_bytes() : 0;
  if (free > 0) budget_bytes_ = base_bytes_ + free;
}

ProcessReport HostMemory::report(const ProcessPlan& plan) const {
  return {.plan = plan, .peak_resident_bytes = peak_resident_bytes(), .budget_bytes = budget_bytes_};
}

void add_memory(TaskReport& report, const HostMemory& memory) {
  report.memory += base_plan(memory.base_bytes());
  const ProcessReport all = memory.report(report.memory);
  report.json["memory"] = to_json(all);
  report.text += to_text(all);
}

}  // namespace voxshard
