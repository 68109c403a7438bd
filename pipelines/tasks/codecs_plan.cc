#include "pipelines/tasks/codecs_plan.h"

#include <algorithm>

#include "io/image/image.h"
#include "io/system/process_memory.h"

namespace voxshard {

ProcessPlan codecs_plan() {
  static const std::int64_t bytes = [] {
    const std::int64_t before = resident_bytes();
    load_codecs();
    return std::max<std::int64_t>(0, resident_bytes() - before);
  }();
  return {{MemoryPart::kLibraries, bytes}};
}

}  // namespace voxshard
