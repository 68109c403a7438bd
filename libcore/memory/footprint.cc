#include "libcore/memory/footprint.h"

#include <algorithm>
#include <numeric>

namespace voxshard {

std::int64_t Footprint::all_arenas() const { return std::accumulate(arenas.begin(), arenas.end(), std::int64_t{0}); }

std::size_t Footprint::widest() const {
  return static_cast<std::size_t>(std::max_element(arenas.begin(), arenas.end()) - arenas.begin());
}

Footprint footprint(const MemoryPlan& memory, const FootprintOptions& options, const HostKernels* kernels) {
  Footprint f{.results = memory.process.bytes - memory.packed_bytes,
              .parameters = memory.parameter_bytes,
              .optimizer = options.optimizer_slots * memory.trained_bytes +
                           (options.keeps_average ? memory.parameter_bytes : 0)};
  f.packed = memory.packed_bytes;
  for (const Pool& arena : memory.arenas) f.arenas.push_back(arena.bytes);
  if (kernels != nullptr) f.workspaces = options.workers * kernels->workspace_bytes;
  return f;
}

}  // namespace voxshard
