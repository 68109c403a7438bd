#include "libcore/runtime/core_set.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>

#include "libcore/kernels/conv.h"

namespace voxshard {

Arena::Arena(std::int64_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* p = ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    throw Error(ErrorKind::kBudget, "[memory] the system refused " + std::to_string(bytes) + " bytes; free memory or use a finer partition");
  ::madvise(p, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
  data_ = static_cast<std::byte*>(p);
}

Arena::~Arena() {
  if (data_ != nullptr) ::munmap(data_, static_cast<std::size_t>(bytes_));
}

Arena::Arena(Arena&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_), high_water_(other.high_water_.load()) {}

std::byte* Arena::at(std::int64_t offset, std::int64_t bytes) const {
  ensure(offset >= 0 && offset + bytes <= bytes_, "a buffer lies inside its arena");
  std::int64_t seen = high_water_.load();
  while (seen < offset + bytes && !high_water_.compare_exchange_weak(seen, offset + bytes)) {
  }
  return data_ + offset;
}

CoreSet::CoreSet(const Executable& executable, const OpTable& ops, Parameters& parameters, WorkerPool& pool,
                 Transport& transport)
    : executable_(executable),
      ops_(ops),
      parameters_(parameters),
      pool_(pool),
      transport_(transport),
      process_(executable.memory.process.bytes),
      packed_(executable.kernels.total_packed_bytes()) {
  for (const Pool& arena : executable.memory.arenas) arenas_.emplace_back(arena.bytes);
  for (int w = 0; w < pool.workers(); ++w) workspaces_.emplace_back(executable.kernels.workspace_bytes);
  const Program& program = executable_.program;
  for (const Node& node : program.graph.nodes()) {
    if (node.role != Role::kParameter && node.role != Role::kState) continue;
    const auto it = parameters_.find(node.name);
    ensure(it != parameters_.end() && it->second.shape() == node.type.shape && it->second.dtype() == node.type.dtype,
           "every parameter of the graph is in the store with its type");
  }
  seconds_.assign(static_cast<std::size_t>(pool.workers()), std::vector<double>(program.instructions.size(), 0.0));
  bind();
}

TensorView CoreSet::held(ValueId id, std::size_t core) const {
  const Program& program = executable_.program;
  const Node& node = program.graph.node(id);
  if (node.role == Role::kParameter || node.role == Role::kState) return parameters_.at(node.name).view();
  const bool replicated = program.replicated(id);
  const Pool& pool = replicated ? executable_.memory.process : executable_.memory.arenas[core];
  const Buffer* buffer = pool.find(id);
  if (buffer == nullptr) return dense_view(nullptr, node.type.dtype, Box::none(node.type.shape.rank()));
  const Arena& memory = replicated ? process_ : arenas_[core];
  return dense_view(memory.at(buffer->offset, buffer->bytes), node.type.dtype, buffer->box);
}

TensorView CoreSet::replicated(ValueId id) const { return held(id, 0); }

TensorView CoreSet::owned(ValueId id, std::size_t core) const {
  const ValuePlan& plan = executable_.program.plan(id);
  return held(id, core).sub(plan.own[plan.layout.replicated ? 0 : core]);
}

void CoreSet::feed(ValueId id, const std::function<void(const TensorView&)>& fill) {
  const auto cores = static_cast<std::int64_t>(executable_.program.plan(id).own.size());
  pool_.run(cores, [&](std::int64_t core, int) {
    const TensorView view = owned(id, static_cast<std::size_t>(core));
    if (!view.box.empty()) fill(view);
  });
}

Tensor CoreSet::gather(ValueId id) const {
  const Node& node = executable_.program.graph.node(id);
  Tensor whole(node.type.dtype, node.type.shape);
  for (std::size_t core = 0; core < executable_.program.plan(id).own.size(); ++core) {
    const TensorView part = owned(id, core);
    if (!part.box.empty()) copy(part, whole.view().sub(part.box));
  }
  return whole;
}

void CoreSet::scatter(ValueId id, const TensorView& whole) {
  for (std::size_t core = 0; core < executable_.program.plan(id).own.size(); ++core) {
    const TensorView part = owned(id, core);
    if (!part.box.empty()) copy(whole, part);
  }
}

void CoreSet::pack_weights() {
  const Program& program = executable_.program;
  std::vector<std::size_t> packing;
  for (std::size_t i = 0; i < program.instructions.size(); ++i)
    if (executable_.kernels.packed_bytes[i] > 0) packing.push_back(i);
  pool_.run(static_cast<std::int64_t>(packing.size()), [&](std::int64_t task, int worker) {
    const std::size_t i = packing[static_cast<std::size_t>(task)];
    const TraceSpan span(tracing(), worker, TraceKind::kPack, i, -1, executable_.kernels.packed_bytes[i]);
    std::vector<TensorView> inputs;
    for (ValueId input : program.graph.node(program.instructions[i].value).inputs)
      if (program.replicated(input)) inputs.push_back(replicated(input));
    pin_kernel_library_to_one_thread();
    executable_.kernels.by_instruction[i]->pack(inputs, packed_at_[i]);
  });
}


void CoreSet::apply_effects() {
  for (const auto& [state, value] : executable_.program.graph.effects) copy(replicated(value), replicated(state));
}

std::optional<ValueId> CoreSet::first_non_finite() {
  const Program& program = executable_.program;
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    run_instruction(i);
    const Instruction& instruction = program.instructions[i];
    const bool complete = (instruction.kind == InstructionKind::kCompute && !instruction.partial) ||
                          instruction.kind == InstructionKind::kJoin;
    const Node& node = program.graph.node(instruction.value);
    if (!complete || !is_float(node.type.dtype)) continue;
    const Tensor whole = gather(instruction.value);
    for (std::int64_t k = 0; k < whole.count(); ++k)
      if (!std::isfinite(load(whole.view(), k))) return instruction.value;
  }
  return std::nullopt;
}

std::vector<double> CoreSet::seconds_by_instruction() const {
  std::vector<double> total(executable_.program.instructions.size(), 0.0);
  for (const auto& worker : seconds_)
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += worker[i];
  return total;
}

}  // namespace voxshard
