#include "libcore/train/session.h"

#include <cstdio>

#include "libcore/ops/op_table.h"

namespace voxshard {
namespace {

constexpr std::int64_t kMostCores = 128;  // the largest slice of the original system that spatial partitioning ran on

std::string over_budget_text(const Session& session, const Executable& executable, const Shape& extents, Phase phase) {
  const SessionOptions& options = session.options();
  const auto [core, bytes] = widest_core(executable, options.optimizer_bytes);
  std::string text = "[memory] the plan needs " + bytes_text(bytes) + " per core (" + std::to_string(bytes) +
                     " bytes, core " + std::to_string(core) + " of partition " + to_string(options.cut.mesh.partition) +
                     " on " + to_string(extents) + "), the budget is " + bytes_text(options.core_budget_bytes) +
                     "; nothing was allocated. Largest allocations of that core:";
  for (const Allocation& a : largest_allocations(executable.program, executable.memory, core, 5))
    text += "\n  " + bytes_text(a.bytes) + "  " + a.layer + "  " + std::string(dtype_name(a.type.dtype)) + "[" +
            to_string(a.box.extent) + "]  unpadded " + bytes_text(a.unpadded_bytes);
  const auto fits = partition_that_fits(options, extents, phase, options.core_budget_bytes);
  text += fits ? "\nA partition that fits: " + to_string(*fits)
               : "\nNo partition up to " + std::to_string(kMostCores) +
                     " cores fits: give more memory, a smaller size or fewer base filters";
  return text;
}

}  // namespace

std::string bytes_text(std::int64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  char text[64];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.2f %s", value, kUnits[unit]);
  return text;
}

Session::Session(SessionOptions options, WorkerPool& pool) : options_(std::move(options)), pool_(pool) {}

const Executable& Session::plan(const Shape& extents, Phase phase) {
  auto& slot = executables_[{phase, extents}];
  if (slot == nullptr) {
    auto made = std::make_unique<Executable>(
        compile(options_.factory(extents, phase), op_table(), options_.cut, options_.kernels, {}));
    if (options_.core_budget_bytes > 0 && widest_core(*made, options_.optimizer_bytes).second > options_.core_budget_bytes)
      throw Error(ErrorKind::kBudget, over_budget_text(*this, *made, extents, phase));
    const std::int64_t host_bytes = made->host_bytes(pool_.workers(), options_.optimizer_bytes);
    if (options_.host_budget_bytes > 0 && host_bytes > options_.host_budget_bytes)
      throw Error(ErrorKind::kBudget, "[memory] all cores together need " + bytes_text(host_bytes) + " (" + std::to_string(host_bytes) +
                                          " bytes) in this process, the budget is " + bytes_text(options_.host_budget_bytes) +
                                          "; nothing was allocated. Recompute more (--recompute upsampling), or let "
                                          "--partition auto choose");
    slot = std::move(made);
  }
  return *slot;
}

CoreSet& Session::cores(const Shape& extents, Phase phase) {
  if (cores_ == nullptr || live_ != Key{phase, extents}) {
    const Executable& executable = plan(extents, phase);
    release();
    cores_ = std::make_unique<CoreSet>(executable, op_table(), parameters_, pool_, transport_);
    live_ = {phase, extents};
  }
  return *cores_;
}

void Session::release() { cores_.reset(); }

std::pair<std::size_t, std::int64_t> widest_core(const Executable& executable, std::int64_t optimizer_bytes) {
  std::pair<std::size_t, std::int64_t> widest{0, 0};
  for (std::size_t core = 0; core < executable.memory.arenas.size(); ++core) {
    const std::int64_t bytes = executable.core_bytes(core, optimizer_bytes);
    if (bytes > widest.second) widest = {core, bytes};
  }
  return widest;
}

std::optional<Dims> partition_that_fits(const SessionOptions& options, const Shape& extents, Phase phase,
                                        std::int64_t budget_bytes) {
  Mesh mesh = options.cut.mesh;
  while (mesh.cores() * 2 <= kMostCores) {
    int widest = -1;
    for (int axis = 1; axis < extents.rank(); ++axis)
      if (mesh.partition[axis] * 2 <= extents[axis] &&
          (widest < 0 || extents[axis] * mesh.partition[widest] > extents[widest] * mesh.partition[axis]))
        widest = axis;
    if (widest < 0) return std::nullopt;
    mesh.partition[widest] *= 2;
    const Executable executable = compile(options.factory(extents, phase), op_table(), options.cut.over(mesh), options.kernels, {});
    if (widest_core(executable, options.optimizer_bytes).second <= budget_bytes) return mesh.partition;
  }
  return std::nullopt;
}

}  // namespace voxshard
