// The emulated core set: memory for one executable, and the lock-step run of its instructions by the worker threads.
//
//   CoreSet cores(executable, op_table(), parameters, pool, transport);
//   cores.feed(image, [&](const TensorView& box) { ... fill it ... });
//   cores.run();
//   double loss = load(cores.replicated(loss_id), 0);
//
// With a transport of several ranks each rank has a core set of the same executable, which hosts its block of the
// cores.
#pragma once

#include <functional>
#include <optional>

#include "libcore/ranks/transport.h"
#include "libcore/runtime/memory_watch.h"
#include "libcore/runtime/trace.h"
#include "libcore/runtime/worker_loop.h"

namespace voxshard {

class CoreSet {
 public:
  /// Allocates. Errors: kInternal when a parameter is missing or has another type.
  CoreSet(const Executable& executable, const OpTable& ops, Parameters& parameters, WorkerPool& pool,
          Transport& transport, ArenaMode mode = ArenaMode::kPlain);

  /// Calls `fill` once per core of this rank with the view of the box that the core owns of input `id`; replicas are
  /// filled alike.
  void feed(ValueId id, const std::function<void(const TensorView&)>& fill);
  /// One step: all instructions. Parameters and states are read, never written. With checked arenas instruction by
  /// instruction. Errors: kInternal when checked memory was written by one who may not; Stopped, see set_stop().
  void run();
  /// Writes the effects of the last run (running statistics) into the states.
  void apply_effects();
  /// Runs instruction by instruction and returns the first value that is not finite on a core of any rank, all of which
  /// call it.
  std::optional<ValueId> first_non_finite();

  /// A replicated value (whole), a core's view of a cut one (owned box, or all it holds).
  TensorView replicated(ValueId id) const { return cores_.held(id, static_cast<std::size_t>(cores_.first())); }
  TensorView owned(ValueId id, std::size_t core) const { return cores_.owned(id, core); }
  TensorView held(ValueId id, std::size_t core) const { return cores_.held(id, core); }
  /// Worker-seconds per instruction, summed over all runs.
  std::vector<double> seconds_by_instruction() const;
  /// Per instruction what this rank has sent to others, summed over all runs; empty of one rank.
  const std::vector<Traffic>& traffic_by_instruction() const { return traffic_; }
  /// Likewise the worker-seconds in which nothing could be done before a message had come.
  const std::vector<double>& waited_by_instruction() const { return waited_s_; }
  /// The cores of this rank; of a replicated value one, whose view is that of all.
  std::vector<std::size_t> cores_of(ValueId id) const;
  /// A copy of any value from what this rank's cores own; what others own is zero.
  Tensor gather(ValueId id) const;
  /// Overwrites what this rank's cores own (not the margins) with parts of `whole`.
  void scatter(ValueId id, const TensorView& whole);
  /// For verification: runs one instruction; from 0 up, in order.
  void run_instruction(std::size_t index);

  /// Of checked arenas what was found so far; null for plain ones.
  const MemoryWatch* watch() const { return watch_ ? &*watch_ : nullptr; }

  const Executable& executable() const { return cores_.executable(); }
  std::int64_t high_water_bytes(std::size_t core) const { return cores_.high_water_bytes(core); }
  /// From now on run() ends with Stopped between two tasks of a segment once `stop` says so; what the cores hold is
  /// then of no use, parameters and states are what they were. A call of a kernel is never cut short. Of several ranks
  /// none stops within a step: the others wait for its messages.
  void set_stop(StopCheck stop);
  /// False: every exchange has come to its end before the next segment begins; to see what it is worth that they do
  /// not.
  void set_overlap(bool overlap) { overlap_ = overlap; }
  /// Records what happens inside of the recorder's steps; null: nothing.
  void set_trace(TraceRecorder* trace) { trace_ = trace; }

 private:
  const Program& program() const { return cores_.program(); }
  std::size_t hosted(std::int64_t core) const { return static_cast<std::size_t>(cores_.first() + core); }
  /// How many owners a value has on this rank: its cores, or the process itself.
  std::int64_t owners(ValueId id) const { return program().replicated(id) ? 1 : cores_.end() - cores_.first(); }
  void pack_weights(std::size_t index);
  /// `under_way`: the exchange between ranks that may not have ended when it begins.
  Segment make_segment(const std::vector<std::size_t>& instructions, std::optional<std::size_t> under_way = {}) const;
  void land();
  void run_steps();
  void run_one(std::size_t index);
  bool finite(ValueId id) const;
  void run_checked();
  void run_barrier(std::size_t index);
  void run_segment(const Segment& segment);
  void run_call(std::size_t instruction, std::int64_t core, const Call& call, int worker);
  void fill_margin(const Stage& stage, std::int64_t core, int worker);
  TraceRecorder* tracing() const { return trace_ != nullptr && trace_->active() ? trace_ : nullptr; }

  WorkerPool& pool_;
  Transport& transport_;
  TraceRecorder* trace_ = nullptr;
  StopCheck stop_;
  bool overlap_ = true;
  Cores cores_;
  std::optional<MemoryWatch> watch_;
  Parameters& parameters_;
  std::vector<Segment> segments_;         // per step of the schedule; empty for a barrier
  std::optional<ExchangeFlight> flight_;  // under way
  std::vector<Traffic> traffic_;          // per instruction; empty of one rank, as below
  std::vector<double> waited_s_;
  std::vector<std::vector<double>> seconds_;  // per worker, per instruction
};

}  // namespace voxshard
