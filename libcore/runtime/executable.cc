#include "libcore/runtime/executable.h"

#include "libcore/graph/builder.h"

namespace voxshard {
namespace {

void require_sound(const std::vector<std::string>& broken, const char* stage) {
  if (!broken.empty())
    throw Error(ErrorKind::kInternal, std::string("[") + stage + "] " + std::to_string(broken.size()) +
                                          " broken invariants, the first: " + broken.front());
}

}  // namespace

std::int64_t Executable::core_bytes(std::size_t core, std::int64_t optimizer_bytes) const {
  return memory.arenas[core].bytes + memory.process.bytes + memory.parameter_bytes + kernels.total_packed_bytes() +
         optimizer_bytes;
}

std::int64_t Executable::host_bytes(int workers, std::int64_t optimizer_bytes) const {
  return memory.all_arena_bytes() + memory.process.bytes + memory.parameter_bytes + kernels.total_packed_bytes() +
         optimizer_bytes + workers * kernels.workspace_bytes;
}

Executable compile(const Graph& graph, const OpTable& ops, const Cut& cut, KernelSet set, const MemoryOptions& options) {
  Graph recomputing = with_recomputation(graph, ops, cut.recompute);
  require_sound(verify(recomputing, ops), "graph");
  Executable executable{.program = partition(std::move(recomputing), ops, cut)};
  require_sound(verify(executable.program, ops), "program");
  executable.memory = plan_memory(executable.program, ops, options);
  require_sound(verify(executable.memory), "memory");
  executable.kernels = bind_kernels(executable.program, ops, set);
  return executable;
}

}  // namespace voxshard
