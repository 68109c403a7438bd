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
  /// Allocates. `scratch`: an open file of Turns::file_bytes for an executable whose cores take turns, else -1. `warm`:
  /// of take_arenas(). Errors: kInternal when a parameter is missing or has another type.
  CoreSet(const Executable& executable, const OpTable& ops, Parameters& parameters, WorkerPool& pool,
          Transport& transport, ArenaMode mode = ArenaMode::kPlain, int scratch = -1, std::vector<Arena> warm = {});

  /// Calls `fill` once per core of this rank with the view of the box of input `id` that the core owns; cores of all
  /// replicas are filled in the same way.
  void feed(ValueId id, const std::function<void(const TensorView&)>& fill);
  /// Runs one step: all instructions, one by one with checked arenas. Parameters and states are read, never written.
  /// Errors: kInternal when checked memory was written without permission; Stopped, see set_stop().
  void run();
  /// Writes the effects of the last run (running statistics) into the states.
  void apply_effects();
  /// Runs instruction by instruction and returns the first value that is not finite on some core of any rank; all ranks
  /// call it.
  std::optional<ValueId> first_non_finite();

  /// Views of a replicated value (whole), or of a core's part of a cut one (the owned box, or all that it holds).
  TensorView replicated(ValueId id) const { return cores_.held(id, static_cast<std::size_t>(cores_.first())); }
  TensorView owned(ValueId id, std::size_t core) const { return cores_.owned(id, core); }
  TensorView held(ValueId id, std::size_t core) const { return cores_.held(id, core); }
  /// Worker-seconds per instruction, summed over all runs.
  std::vector<double> seconds_by_instruction() const;
  /// Traffic per instruction that this rank has sent to other ranks, summed over all runs; empty with one rank.
  const std::vector<Traffic>& traffic_by_instruction() const { return traffic_; }
  /// Worker-seconds per instruction spent with nothing to do until a message arrived; empty with one rank.
  const std::vector<double>& waited_by_instruction() const { return waited_s_; }
  /// Says that nobody looks at a core's values for a while: where cores take turns its arena leaves memory.
  void rest(std::size_t core) const { cores_.evict(static_cast<std::int64_t>(core)); }
  /// The cores of this rank; for a replicated value only one, whose view is the same as that of all.
  std::vector<std::size_t> cores_of(ValueId id) const;
  /// Returns a copy of a value, assembled from the boxes that this rank's cores own; the rest is zero.
  Tensor gather(ValueId id) const;
  /// Overwrites the boxes that this rank's cores own (not the margins) with parts of `whole`.
  void scatter(ValueId id, const TensorView& whole);
  /// Runs one instruction, for verification; call it in order, from 0 up.
  void run_instruction(std::size_t index);

  /// The faults found so far in checked arenas; null for plain arenas.
  const MemoryWatch* watch() const { return watch_ ? &*watch_ : nullptr; }

  const Executable& executable() const { return cores_.executable(); }
  /// Gives away the arenas for a further core set, which takes over their pages; none where they lie in a file or are
  /// checked. This core set is then of no further use.
  std::vector<Arena> take_arenas() {
    return watch_ || cores_.take_turns() ? std::vector<Arena>() : cores_.take_arenas();
  }
  std::int64_t high_water_bytes(std::size_t core) const { return cores_.high_water_bytes(core); }
  /// From now on run() throws Stopped between two tasks of a segment once `stop` returns true. The contents of the
  /// cores are then invalid; parameters and states are unchanged. A kernel call is never interrupted. With several
  /// ranks no rank stops within a step, since others wait for its messages.
  void set_stop(StopCheck stop);
  /// False: every exchange completes before the next segment begins; this measures the benefit of overlap. So it does
  /// where cores take turns: a core that is not at work would come into memory for what arrives.
  void set_overlap(bool overlap) { overlap_ = overlap; }
  /// Records events while the recorder has a step open; null: records nothing.
  void set_trace(TraceRecorder* trace) { trace_ = trace; }

 private:
  const Program& program() const { return cores_.program(); }
  std::size_t hosted(std::int64_t core) const { return static_cast<std::size_t>(cores_.first() + core); }
  /// The number of owners of a value on this rank: its cores, or the process itself.
  std::int64_t owners(ValueId id) const { return program().replicated(id) ? 1 : cores_.end() - cores_.first(); }
  void pack_weights(std::size_t index);
  /// `under_way`: the exchange between ranks that may still be in progress when the segment begins.
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
  std::vector<Traffic> traffic_;          // per instruction; empty with one rank, as is waited_s_
  std::vector<double> waited_s_;
  std::vector<std::vector<double>> seconds_;  // per worker, per instruction
};

}  // namespace voxshard
