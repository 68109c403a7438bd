#include "libcore/lower/lower.h"

#include "libcore/graph/autodiff.h"

namespace voxshard {
namespace {

void require_valid(const std::vector<std::string>& broken, const char* stage) {
  if (!broken.empty())
    throw Error(ErrorKind::kInternal, std::string("[") + stage + "] " + std::to_string(broken.size()) +
                                          " broken invariants, the first: " + broken.front());
}

/// Bytes of the arenas of cores that other ranks host.
std::int64_t bytes_elsewhere(const Footprint& bytes, const Ranks& ranks) {
  const std::int64_t cores = std::ssize(bytes.arenas);
  std::int64_t elsewhere = 0;
  for (std::int64_t core = 0; core < cores; ++core)
    if (!ranks.hosts(core, cores)) elsewhere += bytes.arenas[core];
  return elsewhere;
}

/// What turns of the cores that this process hosts take.
Turns turns_here(const Lowered& lowered, const Target& target) {
  const std::int64_t cores = std::ssize(lowered.memory.arenas);
  return turns_of(lowered.program, lowered.memory, target.workers,
                  {target.ranks.first(cores), target.ranks.end(cores)});
}

}  // namespace

Graph step_graph(const Graph& graph, const OpTable& ops, Recompute recompute) {
  return with_recomputation(with_gradient(graph, ops), ops, recompute);
}

Graph verified(Graph graph, const OpTable& ops) {
  require_valid(verify(graph, ops), "graph");
  return graph;
}

Graph choose_kernels(Graph step, const OpTable& ops, Convolution from) {
  for (ValueId id = 0; id < step.size(); ++id) {
    const Node& node = step.node(id);
    if (node.role != Role::kOp || kernel_of(node.attrs) != ConvKernel::kAny) continue;
    const OpDef& def = ops.at(node.op);
    if (def.choose == nullptr) continue;
    const auto types = step.input_types(id);
    step.set_attributes(id, def.choose({node.attrs, types, node.type}, from));
  }
  return step;
}

Lowered lower_to_memory(Graph step, const OpTable& ops, const Cut& cut, const Target& target) {
  if (!target.tiled) step = choose_kernels(std::move(step), ops, cut.convolution);
  Lowered lowered{.program = partition(std::move(step), ops, cut)};
  lowered.memory = plan_memory(lowered.program, ops,
                               {.keep_all = target.keep_all, .tiled = target.tiled, .guard_bytes = target.guard_bytes});
  lowered.bytes =
      footprint(lowered.memory, {.optimizer_slots = target.optimizer_slots, .keeps_average = target.keeps_average});
  lowered.bytes.elsewhere = bytes_elsewhere(lowered.bytes, target.ranks);
  if (target.takes_turns) lowered.bytes.turns = turns_here(lowered, target);
  return lowered;
}

Executable make_executable(Lowered lowered, const OpTable& ops, const Target& target) {
  HostKernels kernels = bind_kernels(lowered.program, ops, target.kernels);
  plan_packed(lowered.memory, lowered.program, kernels.packed_bytes());
  Schedule schedule = schedule_of(lowered.program, ops);
  Footprint bytes = footprint(
      lowered.memory,
      {.optimizer_slots = target.optimizer_slots, .keeps_average = target.keeps_average, .workers = target.workers},
      &kernels);
  bytes.messages = 2 * message_bytes(lowered.program, schedule, target.ranks);
  bytes.elsewhere = bytes_elsewhere(bytes, target.ranks);
  if (target.takes_turns) bytes.turns = turns_here(lowered, target);
  return {std::move(lowered.program), std::move(lowered.memory), std::move(kernels), std::move(schedule), bytes};
}

Lowered lower_verified(const Graph& graph, const OpTable& ops, const Cut& cut, const Target& target) {
  Lowered lowered = lower_to_memory(verified(step_graph(graph, ops, cut.recompute), ops), ops, cut, target);
  require_valid(verify(lowered.program, ops), "program");
  require_valid(verify(lowered.memory), "memory");
  return lowered;
}

Executable make_verified(Lowered lowered, const OpTable& ops, const Target& target) {
  Executable executable = make_executable(std::move(lowered), ops, target);
  require_valid(verify(executable.memory), "memory");
  return executable;
}

Executable lower(const Graph& graph, const OpTable& ops, const Cut& cut, const Target& target) {
  return make_verified(lower_verified(graph, ops, cut, target), ops, target);
}

}  // namespace voxshard
