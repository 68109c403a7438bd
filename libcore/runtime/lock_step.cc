// How a core set runs: instructions are bound to addresses once, then each step goes through segments. In a segment every
// core walks its own list of stages; the blocks of a stage are tasks, and a core's next stage begins when the last block
// of the one before has ended. Instructions that involve several cores stand alone.
#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>

#include "libcore/kernels/conv.h"
#include "libcore/runtime/core_set.h"

namespace voxshard {
namespace {

using Clock = std::chrono::steady_clock;

/// What `held` has outside `inside` as disjoint boxes (a slab below and above per axis).
std::vector<Box> outside_of(Box held, const Box& inside) {
  std::vector<Box> parts;
  if (intersect(held, inside).empty()) return {held};
  for (int a = 0; a < held.rank(); ++a) {
    Box below = held, above = held;
    below.set(a, held.begin[a], std::min(held.end(a), inside.begin[a]));
    above.set(a, std::max(held.begin[a], inside.end(a)), held.end(a));
    if (!below.empty()) parts.push_back(below);
    if (!above.empty()) parts.push_back(above);
    held.set(a, std::max(held.begin[a], inside.begin[a]), std::min(held.end(a), inside.end(a)));
  }
  return parts;
}

/// a[lo..hi) added as a binary tree, so that the order depends on the ids alone.
double tree_sum(const std::vector<TensorView>& partials, std::int64_t element, std::size_t lo, std::size_t hi) {
  if (hi - lo == 1) return load(partials[lo], element);
  const std::size_t middle = lo + (hi - lo + 1) / 2;
  return tree_sum(partials, element, lo, middle) + tree_sum(partials, element, middle, hi);
}

void tree_sum_f32(const std::vector<TensorView>& partials, std::int64_t begin, std::int64_t count, std::size_t lo,
                  std::size_t hi, float* out) {
  if (hi - lo == 1) {
    std::copy_n(partials[lo].as<float>() + begin, count, out);
    return;
  }
  const std::size_t middle = lo + (hi - lo + 1) / 2;
  tree_sum_f32(partials, begin, count, lo, middle, out);
  float right[1024];
  tree_sum_f32(partials, begin, count, middle, hi, right);
  for (std::int64_t i = 0; i < count; ++i) out[i] += right[i];
}

std::int64_t bytes_of(const TensorView& view) { return view.count() * dtype_bytes(view.dtype); }

constexpr std::int64_t kJoinChunk = 1024;     // elements on the stack while a tree is added

}  // namespace

TensorView CoreSet::output_view(const Instruction& instruction, std::size_t core, std::size_t block,
                                const TensorView& geometry) {
  if (!instruction.partial) return held(instruction.value, core).sub(geometry.box);
  if (!needs_join(instruction)) return held(instruction.value, core).sub(geometry.box);
  const Buffer* buffer = executable_.memory.arenas[core].find(instruction.value, static_cast<std::int64_t>(block));
  ensure(buffer != nullptr && buffer->box == geometry.box, "a partial result has its buffer");
  return dense_view(arenas_[core].at(buffer->offset, buffer->bytes), geometry.dtype, buffer->box);
}

CoreSet::Call CoreSet::make_call(const Instruction& instruction, std::size_t core, std::size_t block) {
  const BlockGeometry geometry =
      block_geometry(executable_.program, ops_, instruction, core, instruction.blocks[core][block]);
  Call call;
  const auto& inputs = executable_.program.graph.node(instruction.value).inputs;
  for (std::size_t slot = 0; slot < inputs.size(); ++slot)
    call.inputs.push_back(held(inputs[slot], core).sub(geometry.inputs[slot].box));
  call.output = output_view(instruction, core, block, geometry.output);
  return call;
}

CoreSet::Stage CoreSet::make_stage(std::size_t index, std::size_t core) {
  const Program& program = executable_.program;
  const Instruction& instruction = program.instructions[index];
  Stage stage{.instruction = index};
  if (instruction.kind == InstructionKind::kFillMargin) {
    const TensorView view = held(instruction.value, core);
    const Box whole = Box::whole(program.graph.node(instruction.value).type.shape);
    if (!view.box.empty())
      for (const Box& part : outside_of(view.box, whole)) stage.zero.push_back(view.sub(part));
    return stage;
  }
  for (std::size_t b = 0; b < instruction.blocks[core].size(); ++b) stage.calls.push_back(make_call(instruction, core, b));
  return stage;
}

void CoreSet::bind() {
  const Program& program = executable_.program;
  std::int64_t offset = 0;
  for (std::int64_t bytes : executable_.kernels.packed_bytes) {
    packed_at_.push_back(bytes > 0 ? packed_.at(offset, bytes) : nullptr);
    offset += bytes;
  }
  joins_.resize(program.instructions.size());
  for (std::size_t i = 0; i < program.instructions.size(); ++i) bind_join(i);
  for (const ScheduleStep& step : executable_.schedule.steps)
    segments_.push_back(step.barrier ? Segment() : make_segment(step.instructions));
}

void CoreSet::bind_join(std::size_t index) {
  for (const Sum& sum : executable_.schedule.sums[index]) {
    Call join;
    for (const BlockId& addend : sum.addends)
      join.inputs.push_back(make_call(executable_.program.instructions[index - 1], addend.core, addend.block).output);
    join.output = dense_view(nullptr, join.inputs.front().dtype, sum.box);
    joins_[index].push_back(std::move(join));
  }
}

CoreSet::Segment CoreSet::make_segment(const std::vector<std::size_t>& instructions) {
  Segment segment(arenas_.size());
  for (std::size_t index : instructions)
    for (std::size_t core = 0; core < arenas_.size(); ++core) {
      Stage stage = make_stage(index, core);
      if (!stage.calls.empty() || !stage.zero.empty()) segment[core].push_back(std::move(stage));
    }
  return segment;
}

void CoreSet::run() {
  const std::size_t prologue = executable_.program.prologue;
  pool_.run(static_cast<std::int64_t>(prologue), [&](std::int64_t i, int worker) {
    run_call(static_cast<std::size_t>(i), -1, make_call(executable_.program.instructions[static_cast<std::size_t>(i)], 0, 0), worker);
  });
  pack_weights();
  const auto& steps = executable_.schedule.steps;
  for (std::size_t s = 0; s < steps.size(); ++s)
    steps[s].barrier ? run_barrier(steps[s].instructions.front()) : run_segment(segments_[s]);
}

void CoreSet::run_instruction(std::size_t index) {
  if (index < executable_.program.prologue) return run_barrier(index);
  if (index == executable_.program.prologue) pack_weights();
  for (const ScheduleStep& step : executable_.schedule.steps)
    if (std::find(step.instructions.begin(), step.instructions.end(), index) != step.instructions.end())
      return step.barrier ? run_barrier(index) : run_segment(make_segment({index}));
}

void CoreSet::run_barrier(std::size_t index) {
  const Instruction& instruction = executable_.program.instructions[index];
  const auto start = Clock::now();
  switch (instruction.kind) {
    case InstructionKind::kJoin: run_join(index); break;
    case InstructionKind::kExchange: run_exchange(index); break;
    case InstructionKind::kCompute:
      pool_.run(1, [&](std::int64_t, int worker) { run_call(index, -1, make_call(instruction, 0, 0), worker); });
      return;  // run_call has its own clock
    case InstructionKind::kFillMargin: break;
  }
  seconds_[0][index] += std::chrono::duration<double>(Clock::now() - start).count();
}

void CoreSet::run_call(std::size_t instruction, std::int64_t core, const Call& call, int worker) {
  pin_kernel_library_to_one_thread();
  const auto w = static_cast<std::size_t>(worker);
  TraceRecorder* trace = tracing();
  std::int64_t bytes = 0;
  if (trace != nullptr) {
    bytes = bytes_of(call.output);
    for (const TensorView& input : call.inputs) bytes += bytes_of(input);
  }
  const TraceSpan span(trace, worker, TraceKind::kTask, instruction, core, bytes);
  const auto start = Clock::now();
  const Arena& workspace = workspaces_[w];
  executable_.kernels.by_instruction[instruction]->run(
      {.inputs = call.inputs,
       .output = call.output,
       .packed = packed_at_[instruction],
       .workspace = workspace.bytes() > 0 ? workspace.at(0, workspace.bytes()) : nullptr});
  seconds_[w][instruction] += std::chrono::duration<double>(Clock::now() - start).count();
}

void CoreSet::run_segment(const Segment& segment) {
  struct Cursor {
    std::size_t stage = 0;
    std::size_t next = 0;     // next task of the stage to hand out
    std::size_t running = 0;  // handed out and not yet ended
  };
  std::vector<Cursor> cursors(segment.size());
  std::mutex mutex;
  std::condition_variable changed;
  std::exception_ptr failure;
  auto tasks_of = [](const Stage& stage) { return std::max<std::size_t>(1, stage.calls.size()); };
  auto body = [&](int worker) {
    std::unique_lock lock(mutex);
    while (true) {
      std::size_t core = segment.size();
      bool unfinished = false;
      for (std::size_t c = 0; c < segment.size(); ++c) {
        const Cursor& cursor = cursors[c];
        if (cursor.stage >= segment[c].size()) continue;
        unfinished = true;
        if (cursor.next < tasks_of(segment[c][cursor.stage])) {
          core = c;
          break;
        }
      }
      if (!unfinished || failure) return;
      if (core == segment.size()) {
        changed.wait(lock);
        continue;
      }
      Cursor& cursor = cursors[core];
      const Stage& stage = segment[core][cursor.stage];
      const std::size_t task = cursor.next++;
      ++cursor.running;
      lock.unlock();
      try {
        if (task < stage.calls.size()) run_call(stage.instruction, static_cast<std::int64_t>(core), stage.calls[task], worker);
        if (task == 0 && !stage.zero.empty()) fill_margin(stage, core, worker);
      } catch (Error& error) {
        error.add_context("core " + std::to_string(core));
        lock.lock();
        if (!failure) failure = std::current_exception();
        lock.unlock();
      } catch (...) {
        lock.lock();
        if (!failure) failure = std::current_exception();
        lock.unlock();
      }
      lock.lock();
      --cursor.running;
      if (cursor.running == 0 && cursor.next >= tasks_of(stage)) {
        ++cursor.stage;
        cursor.next = 0;
      }
      changed.notify_all();
    }
  };
  pool_.run_on_all(body);
  if (failure) std::rethrow_exception(failure);
}

void CoreSet::fill_margin(const Stage& stage, std::size_t core, int worker) {
  std::int64_t bytes = 0;
  for (const TensorView& view : stage.zero) bytes += bytes_of(view);
  const TraceSpan span(tracing(), worker, TraceKind::kFillMargin, stage.instruction, static_cast<std::int64_t>(core), bytes);
  for (const TensorView& view : stage.zero) fill_zero(view);
}

void CoreSet::run_join(std::size_t index) {
  const Instruction& instruction = executable_.program.instructions[index];
  const bool replicated_result = executable_.program.replicated(instruction.value);
  for (const Call& join : joins_[index]) {
    // The sum goes to the process pool, or to each core that holds this box.
    std::vector<TensorView> results;
    for (std::size_t core = 0; core < (replicated_result ? 1 : arenas_.size()); ++core) {
      const TensorView view = held(instruction.value, core);
      if (view.box.contains(join.output.box)) results.push_back(view.sub(join.output.box));
    }
    const std::int64_t count = join.output.count();
    pool_.run(ceil_div(count, kElementsPerSumTask), [&](std::int64_t task, int worker) {
      const std::int64_t end = std::min(count, (task + 1) * kElementsPerSumTask);
      const std::int64_t bytes = (end - task * kElementsPerSumTask) * dtype_bytes(join.output.dtype) * static_cast<std::int64_t>(join.inputs.size());
      const TraceSpan span(tracing(), worker, TraceKind::kJoin, index, -1, bytes);
      for (std::int64_t at = task * kElementsPerSumTask; at < end; at += kJoinChunk) {
        const std::int64_t n = std::min(kJoinChunk, end - at);
        for (const TensorView& result : results) {
          if (result.dtype == DType::kF32) {
            tree_sum_f32(join.inputs, at, n, 0, join.inputs.size(), result.as<float>() + at);
          } else {
            for (std::int64_t i = at; i < at + n; ++i) store(result, i, tree_sum(join.inputs, i, 0, join.inputs.size()));
          }
        }
      }
    });
  }
}

void CoreSet::run_exchange(std::size_t index) {
  const Instruction& instruction = executable_.program.instructions[index];
  pool_.run(static_cast<std::int64_t>(instruction.copies.size()), [&](std::int64_t i, int worker) {
    const Copy& piece = instruction.copies[static_cast<std::size_t>(i)];
    const TensorView to = held(instruction.value, static_cast<std::size_t>(piece.to)).sub(piece.box);
    const TraceSpan span(tracing(), worker, TraceKind::kExchange, index, piece.to, bytes_of(to));
    transport_.start(piece.from, piece.to, held(instruction.value, static_cast<std::size_t>(piece.from)).sub(piece.box), to);
  });
  transport_.wait();
}

}  // namespace voxshard
