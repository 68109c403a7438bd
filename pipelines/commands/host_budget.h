// What a run may take where nobody says it: what the machine has free.
//
//   lowering_of(spec, host_budget(options.core_budget_bytes, options.host_budget_bytes), target)
#pragma once

#include "io/system/process_memory.h"
#include "libcore/planner/budget.h"

namespace voxshard {

/// `core_bytes`, `process_bytes`: as they were given, 0 when they were not. Without a limit where the system does not
/// say what is free.
inline Budget host_budget(std::int64_t core_bytes, std::int64_t process_bytes) {
  const bool given = process_bytes > 0;
  return {.core_bytes = core_bytes,
          .process_bytes = given ? process_bytes : available_memory_bytes(),
          .of_machine = !given};
}

}  // namespace voxshard
