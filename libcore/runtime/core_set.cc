#include "libcore/runtime/core_set.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/stopwatch.h"
#include "libcore/runtime/collectives.h"

namespace voxshard {
CoreSet::CoreSet(const Executable& executable, const OpTable& ops, Parameters& parameters, WorkerPool& pool,
                 Transport& transport, ArenaMode mode, int scratch, std::vector<Arena> warm)
    : pool_(pool),
      transport_(transport),
      cores_(executable, ops, parameters, pool.workers(), transport.place(), mode, scratch, std::move(warm)),
      parameters_(parameters) {
  ensure(executable.bytes.takes_turns() == cores_.take_turns(), "cores take turns exactly where that was planned");
  if (mode == ArenaMode::kChecked)
    watch_.emplace(executable.program, executable.memory, cores_.arenas(), cores_.first(), cores_.process());
  seconds_.assign(static_cast<std::size_t>(pool.workers()), std::vector<double>(program().instructions.size(), 0.0));
  if (transport.ranks() > 1) {
    traffic_.resize(program().instructions.size());
    waited_s_.resize(program().instructions.size());
  }
  std::optional<std::size_t> under_way;
  for (const ScheduleStep& step : executable.schedule.steps) {
    segments_.push_back(step.barrier ? Segment() : make_segment(step.instructions, under_way));
    if (!step.barrier || transport.ranks() == 1) continue;
    const InstructionKind kind = program().instructions[step.instructions.front()].kind;
    if (kind == InstructionKind::kExchange) under_way = step.instructions.front();
    if (kind == InstructionKind::kJoin) under_way.reset();
  }
}

/// Completes the exchange in progress, if any.
void CoreSet::land() {
  if (!flight_) return;
  flight_->finish(0);
  if (!waited_s_.empty()) waited_s_[flight_->instruction()] += flight_->waited_s();
  flight_.reset();
}

void CoreSet::set_stop(StopCheck stop) {
  if (transport_.ranks() == 1) stop_ = std::move(stop);
}

void CoreSet::feed(ValueId id, const std::function<void(const TensorView&)>& fill) {
  if (watch_) watch_->feeding(id);
  pool_.run(owners(id), [&](std::int64_t core, int) {
    const TensorView view = owned(id, hosted(core));
    if (!view.box.empty()) fill(view);
    rest(hosted(core));
  });
}

std::vector<std::size_t> CoreSet::cores_of(ValueId id) const {
  std::vector<std::size_t> cores;
  for (std::int64_t core = 0; core < owners(id); ++core) cores.push_back(hosted(core));
  return cores;
}

Tensor CoreSet::gather(ValueId id) const {
  const Node& node = program().graph.node(id);
  Tensor whole(node.type.dtype, node.type.shape);
  for (std::int64_t core = 0; core < owners(id); ++core) {
    const TensorView part = owned(id, hosted(core));
    if (!part.box.empty()) copy(part, whole.view().sub(part.box));
  }
  return whole;
}

void CoreSet::scatter(ValueId id, const TensorView& whole) {
  for (std::int64_t core = 0; core < owners(id); ++core) {
    const TensorView part = owned(id, hosted(core));
    if (!part.box.empty()) copy(whole, part);
  }
}

Segment CoreSet::make_segment(const std::vector<std::size_t>& instructions,
                              std::optional<std::size_t> under_way) const {
  Segment segment(static_cast<std::size_t>(cores_.end() - cores_.first()));
  for (std::size_t index : instructions)
    for (std::size_t core = 0; core < segment.size(); ++core) {
      Stage stage = cores_.stage(index, hosted(static_cast<std::int64_t>(core)));
      if (under_way) put_waiting_last(cores_, *under_way, cores_.first() + static_cast<std::int64_t>(core), stage);
      if (!stage.calls.empty() || !stage.zero.empty()) segment[core].push_back(std::move(stage));
    }
  return segment;
}

void CoreSet::pack_weights(std::size_t index) {
  const ValueId id = program().instructions[index].value;
  const Kernel& kernel = executable().kernels.of(id);
  std::byte* packed = cores_.packed(id);
  if (packed == nullptr || kernel.packed_input() < 0) return;
  const auto& inputs = program().graph.node(id).inputs;
  const TensorView weights = replicated(inputs[kernel.packed_input()]);
  const std::int64_t tasks = kernel.pack_tasks(), bytes = executable().kernels.packed_bytes(id);
  pool_.run(tasks, [&](std::int64_t task, int worker) {
    const TraceSpan span(tracing(), worker, TraceKind::kPack, index, -1, bytes / tasks);
    const Stopwatch watch;
    kernel.pack(weights, packed, task);
    seconds_[worker][index] += watch.seconds();
  });
}

void CoreSet::run() {
  if (watch_) return run_checked();
  announce_errors(transport_, [&] { run_steps(); });
}

void CoreSet::run_steps() {
  flight_.reset();  // left by a run that an error ended
  const std::size_t prologue = program().prologue;
  pool_.run(static_cast<std::int64_t>(prologue), [&](std::int64_t i, int worker) {
    const auto index = static_cast<std::size_t>(i);
    run_call(index, -1, cores_.call(index, hosted(0), 0), worker);
  });
  const auto& steps = executable().schedule.steps;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    throw_if_stopped(stop_);
    steps[s].barrier ? run_barrier(steps[s].instructions.front()) : run_segment(segments_[s]);
  }
  land();
}

void CoreSet::run_checked() {
  for (std::size_t i = 0; i < program().instructions.size(); ++i) run_instruction(i);
  if (watch_->faults().empty()) return;
  const MemoryFault& first = watch_->faults().front();
  throw Error(ErrorKind::kInternal, "[" + program().graph.node(first.value).name + "] instruction " +
                                        std::to_string(first.instruction) + ": " + first.what);
}

void CoreSet::run_instruction(std::size_t index) {
  if (!watch_) return announce_errors(transport_, [&] { run_one(index); });
  for (const Arena& workspace : cores_.workspaces()) {
    workspace.poison(0, workspace.bytes());
    workspace.revive(0, workspace.bytes());
  }
  watch_->begin(index);
  announce_errors(transport_, [&] { run_one(index); });
  watch_->end(index);
}

void CoreSet::run_one(std::size_t index) {
  const auto runs_it = [&](const ScheduleStep& step) {
    return std::find(step.instructions.begin(), step.instructions.end(), index) != step.instructions.end();
  };
  const auto& steps = executable().schedule.steps;
  const auto step = std::find_if(steps.begin(), steps.end(), runs_it);
  step == steps.end() || step->barrier ? run_barrier(index) : run_segment(make_segment({index}));
  land();
}

void CoreSet::run_barrier(std::size_t index) {
  const InstructionKind kind = program().instructions[index].kind;
  const bool sends = kind == InstructionKind::kJoin || kind == InstructionKind::kExchange;
  if (sends) land();
  const Stopwatch watch;
  const Traffic before = transport_.sent();
  const double waited_before = transport_.waited_s();
  const Together together{cores_, pool_, transport_, tracing()};
  switch (kind) {
    case InstructionKind::kJoin:
      run_join(together, index);
      for (std::int64_t core = cores_.first(); core < cores_.end(); ++core) cores_.evict(core);
      break;
    case InstructionKind::kExchange:
      flight_.emplace(together, index);
      if (!overlap_ || cores_.take_turns()) land();
      break;
    case InstructionKind::kCompute:
      pool_.run(1, [&](std::int64_t, int worker) { run_call(index, -1, cores_.call(index, hosted(0), 0), worker); });
      return;  // run_call measures its own time
    case InstructionKind::kPack:
      return pack_weights(index);
    case InstructionKind::kFillMargin:
      break;
  }
  seconds_[0][index] += watch.seconds();
  if (traffic_.empty()) return;
  traffic_[index].messages += transport_.sent().messages - before.messages;
  traffic_[index].bytes += transport_.sent().bytes - before.bytes;
  waited_s_[index] += transport_.waited_s() - waited_before;
}

void CoreSet::run_segment(const Segment& segment) {
  voxshard::run_segment(
      pool_, segment, cores_.first(),
      [&](std::int64_t core, const Stage& stage, std::size_t task, int worker) {
        if (task < stage.calls.size()) run_call(stage.instruction, core, stage.calls[task], worker);
        if (task == 0 && !stage.zero.empty()) fill_margin(stage, core, worker);
      },
      stop_, flight_ ? &*flight_ : nullptr,
      cores_.take_turns() ? [this](std::int64_t core) { cores_.evict(core); } : std::function<void(std::int64_t)>());
}

void CoreSet::run_call(std::size_t instruction, std::int64_t core, const Call& call, int worker) {
  TraceRecorder* trace = tracing();
  std::int64_t bytes = 0;
  if (trace != nullptr) {
    bytes = call.output.bytes();
    for (const TensorView& input : call.inputs) bytes += input.bytes();
  }
  const TraceSpan span(trace, worker, TraceKind::kTask, instruction, core, bytes);
  const Stopwatch watch;
  if (cores_.take_turns() && core >= 0) cores_.bring_in(core, call);
  executable()
      .kernels.of(program().instructions[instruction].value)
      .run({.inputs = call.inputs,
            .output = call.output,
            .packed = cores_.packed(program().instructions[instruction].value),
            .workspace = cores_.workspace(worker)});
  seconds_[worker][instruction] += watch.seconds();
}

void CoreSet::fill_margin(const Stage& stage, std::int64_t core, int worker) {
  std::int64_t bytes = 0;
  for (const TensorView& view : stage.zero) bytes += view.bytes();
  const TraceSpan span(tracing(), worker, TraceKind::kFillMargin, stage.instruction, core, bytes);
  for (const TensorView& view : stage.zero) fill_zero(view);
}

void CoreSet::apply_effects() {
  for (const auto& [state, value] : program().graph.effects)
    copy(replicated(value), parameters_.at(program().graph.node(state).name).view());
}

/// True when all elements owned by this rank's cores are finite.
bool CoreSet::finite(ValueId id) const {
  for (const std::size_t core : cores_of(id)) {
    const TensorView own = owned(id, core);
    Tensor dense(own.dtype, own.box.extent);
    copy(own, dense_view(dense.data(), own.dtype, own.box));
    for (std::int64_t k = 0; k < dense.count(); ++k)
      if (!std::isfinite(load(dense.view(), k))) return false;
  }
  return true;
}

std::optional<ValueId> CoreSet::first_non_finite() {
  const std::size_t all = program().instructions.size();
  std::size_t first = all;
  for (std::size_t i = 0; i < all; ++i) {
    run_instruction(i);
    const Instruction& instruction = program().instructions[i];
    const bool complete = (instruction.kind == InstructionKind::kCompute && !instruction.partial) ||
                          instruction.kind == InstructionKind::kJoin;
    if (first < all || !complete || !is_float(program().graph.node(instruction.value).type.dtype)) continue;
    if (!finite(instruction.value)) first = i;
    if (first < all && transport_.ranks() == 1)
      break;  // several ranks must continue, since others wait for their messages
  }
  if (transport_.ranks() > 1)
    first = static_cast<std::size_t>(transport_.all_reduce_min(static_cast<std::int64_t>(first)));
  return first < all ? std::optional(program().instructions[first].value) : std::nullopt;
}

std::vector<double> CoreSet::seconds_by_instruction() const {
  std::vector<double> total(program().instructions.size(), 0.0);
  for (const auto& worker : seconds_)
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += worker[i];
  return total;
}

}  // namespace voxshard
