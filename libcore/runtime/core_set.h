// The emulated core set: memory for one executable, and the lock-step run of its instructions by the worker threads.
//
//   CoreSet cores(executable, op_table(), parameters, pool, transport);
//   cores.feed(image, [&](const TensorView& box) { ... fill it ... });
//   cores.run();
//   double loss = load(cores.replicated(loss_id), 0);
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "libcore/base/parallel.h"
#include "libcore/lower/lower.h"
#include "libcore/runtime/trace.h"
#include "libcore/runtime/transport.h"

namespace voxshard {

/// Parameters and states by name; outlives the core set, may be shared by several.
using Parameters = std::map<std::string, Tensor>;

/// Memory that is reserved at once and given back at once; pages are touched as they are used.
class Arena {
 public:
  explicit Arena(std::int64_t bytes);
  ~Arena();
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&&) = delete;
  /// The bytes at `offset`; notes how far the arena was used.
  std::byte* at(std::int64_t offset, std::int64_t bytes) const;
  std::int64_t bytes() const { return bytes_; }
  std::int64_t high_water_bytes() const { return high_water_.load(); }

 private:
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  mutable std::atomic<std::int64_t> high_water_{0};
};

class CoreSet {
 public:
  /// Allocates. Errors: kInternal when a parameter is missing or has another type.
  CoreSet(const Executable& executable, const OpTable& ops, Parameters& parameters, WorkerPool& pool,
          Transport& transport);

  /// Calls `fill` once per core with the view of the box that the core owns of input `id`; replicas are filled alike.
  void feed(ValueId id, const std::function<void(const TensorView&)>& fill);
  /// One step: all instructions. Parameters and states are read, never written.
  void run();
  /// Writes the effects of the last run (running statistics) into the states.
  void apply_effects();
  /// Runs instruction by instruction and returns the first value that is not finite.
  std::optional<ValueId> first_non_finite();

  /// A replicated value (whole), a core's view of a cut one (owned box, or all it holds).
  TensorView replicated(ValueId id) const;
  TensorView owned(ValueId id, std::size_t core) const;
  TensorView held(ValueId id, std::size_t core) const;
  /// A whole copy of any value, from the owners.
  Tensor gather(ValueId id) const;
  /// Overwrites what the cores own (not the margins) with parts of `whole`.
  void scatter(ValueId id, const TensorView& whole);
  /// For verification: runs one instruction; from 0 up, in order.
  void run_instruction(std::size_t index);

  const Executable& executable() const { return executable_; }
  std::int64_t high_water_bytes(std::size_t core) const { return arenas_[core].high_water_bytes(); }
  /// Records what happens inside of the recorder's steps; null: nothing.
  void set_trace(TraceRecorder* trace) { trace_ = trace; }
  /// Worker-seconds per instruction, summed over all runs.
  std::vector<double> seconds_by_instruction() const;

 private:
  struct Call {  // one block of one compute instruction, views with addresses
    std::vector<TensorView> inputs;
    TensorView output;
  };
  struct Stage {  // what one core does for one instruction of a segment
    std::size_t instruction = 0;
    std::vector<Call> calls;
    std::vector<TensorView> zero;  // fill_margin
  };
  using Segment = std::vector<std::vector<Stage>>;  // per core

  void pack_weights();
  void bind();
  Segment make_segment(const std::vector<std::size_t>& instructions);
  void bind_join(std::size_t index);
  Stage make_stage(std::size_t index, std::size_t core);
  Call make_call(const Instruction& instruction, std::size_t core, std::size_t block);
  TensorView output_view(const Instruction& instruction, std::size_t core, std::size_t block, const TensorView& geometry);
  void run_barrier(std::size_t index);
  void run_segment(const Segment& segment);
  void run_call(std::size_t instruction, std::int64_t core, const Call& call, int worker);
  void fill_margin(const Stage& stage, std::size_t core, int worker);
  void run_join(std::size_t index);
  void run_exchange(std::size_t index);
  TraceRecorder* tracing() const { return trace_ != nullptr && trace_->active() ? trace_ : nullptr; }

  const Executable& executable_;
  const OpTable& ops_;
  Parameters& parameters_;
  WorkerPool& pool_;
  Transport& transport_;
  TraceRecorder* trace_ = nullptr;
  std::vector<Arena> arenas_;
  Arena process_;
  Arena packed_;
  std::vector<Arena> workspaces_;  // per worker
  std::vector<std::byte*> packed_at_;  // per instruction
  std::vector<Segment> segments_;      // per step of the schedule; empty for a barrier
  std::vector<std::vector<Call>> joins_;  // per instruction: partial results (inputs) of each result (output)
  std::vector<std::vector<double>> seconds_;  // per worker, per instruction
};

}  // namespace voxshard
