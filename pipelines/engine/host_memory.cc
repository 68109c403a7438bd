#include "pipelines/engine/host_memory.h"

#include "io/system/process_memory.h"

namespace voxshard {
namespace {

/// Returns `given_bytes`; when these are 0, the held bytes plus a share of the machine's free memory, or 0 (no limit)
/// where the system does not report free memory.
std::int64_t given_or_free(std::int64_t given_bytes, std::int64_t held_bytes, int ranks_here) {
  if (given_bytes > 0) return given_bytes;
  const std::int64_t free = available_memory_bytes();
  return free > 0 ? held_bytes + free / ranks_here : 0;
}

}  // namespace

HostMemory::HostMemory(std::int64_t budget_bytes, int ranks_here)
    : base_bytes_(resident_bytes()), budget_bytes_(given_or_free(budget_bytes, base_bytes_, ranks_here)) {}

ProcessReport HostMemory::report(const ProcessPlan& plan, Progress& progress) const {
  const ProcessReport report{.plan = plan, .peak_resident_bytes = peak_resident_bytes(), .budget_bytes = budget_bytes_};
  if (const auto text = report.warning()) progress.warn(*text);
  return report;
}

Budget host_budget(std::int64_t core_bytes, std::int64_t process_bytes, int ranks_here) {
  return {.core_bytes = core_bytes,
          .process_bytes = given_or_free(process_bytes, 0, ranks_here),
          .of_machine = process_bytes <= 0};
}

}  // namespace voxshard
