#include "libcore/memory/report.h"

#include <algorithm>

namespace voxshard {
namespace {

bool alive(const Buffer& buffer, int instruction) { return buffer.first <= instruction && instruction <= buffer.last; }

/// The instruction during which most bytes of the pool are alive.
int widest_moment(const Pool& pool, int instructions) {
  std::vector<std::int64_t> change(static_cast<std::size_t>(instructions) + 2, 0);
  for (const Buffer& buffer : pool.buffers) {
    change[buffer.first] += buffer.bytes;
    change[static_cast<std::size_t>(buffer.last) + 1] -= buffer.bytes;
  }
  std::int64_t now = 0, most = -1;
  int moment = 0;
  for (int i = 0; i <= instructions; ++i) {
    now += change[i];
    if (now > most) {
      most = now;
      moment = i;
    }
  }
  return moment;
}

}  // namespace

MemoryReport memory_report(const Program& program, const MemoryPlan& plan, std::size_t core) {
  const Pool& arena = plan.arenas[core];
  const auto instructions = static_cast<int>(program.instructions.size());
  const int moment = widest_moment(arena, instructions);
  MemoryReport report{.core = core, .arena_bytes = arena.bytes, .parameter_bytes = plan.parameter_bytes};
  if (moment < instructions) report.widest_layer = program.graph.node(program.instructions[moment].value).name;
  // Forward results come before the backward pass; those that one of its instructions reads were kept for it.
  const ValueId root = program.graph.backward_root == kNoValue ? program.graph.size() : program.graph.backward_root;
  int backward = instructions + 1;  // never, in a graph without a backward pass
  for (int i = instructions - 1; i >= static_cast<int>(program.prologue); --i)
    if (program.instructions[i].value >= root) backward = i;
  std::int64_t live = 0;
  for (const Buffer& buffer : arena.buffers) {
    if (!alive(buffer, moment)) continue;
    live += buffer.bytes;
    if (buffer.partial >= 0) {
      report.partial_bytes += buffer.bytes;
      continue;
    }
    const Box& own = program.plan(buffer.value).own[core];
    const auto share =
        static_cast<double>(own.count()) / static_cast<double>(std::max<std::int64_t>(1, buffer.box.count()));
    const auto inner = static_cast<std::int64_t>(share * static_cast<double>(buffer.bytes));
    report.halo_bytes += buffer.bytes - inner;
    (buffer.value < root && buffer.last >= backward ? report.kept_bytes : report.transient_bytes) += inner;
  }
  report.gap_bytes = arena.bytes - live;
  for (const Buffer& buffer : plan.process.buffers) {
    const bool gradient = std::any_of(program.graph.gradients.begin(), program.graph.gradients.end(),
                                      [&](const auto& pair) { return pair.second == buffer.value; });
    if (gradient) report.gradient_bytes += buffer.bytes;
  }
  report.replicated_bytes = plan.process.bytes - plan.packed_bytes - report.gradient_bytes;
  return report;
}

}  // namespace voxshard
