// A model on a core set: executables by input size, made once and reused while they fit; the parameters; one core set
// alive at a time.
//
//   Session session([&](const Shape& extents, Phase phase) { return lower(build(extents, phase), ...); }, pool);
//   CoreSet& cores = session.cores({1, 64, 64, 64}, Phase::kTrain);
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>

#include "libcore/runtime/core_set.h"

namespace voxshard {

/// kEvaluate: targets and loss as in training, norms by their running statistics as in prediction, no gradients.
enum class Phase { kTrain, kPredict, kEvaluate };

/// Bytes of an executable: while it runs, and those of the plan itself.
struct PlanBytes {
  Footprint run;
  std::int64_t kept = 0;  // graph, program, memory plan, kernels with their compiled code, the calls of a core set
  Dims partition = {};    // the cut that the plan has
};

/// Returns PlanBytes::kept, an upper estimate by counting.
std::int64_t kept_bytes(const Executable& executable);

class Session {
 public:
  /// Lowers the model for input extents (N and the spatial axes), within its budget.
  using Lower = std::function<Executable(const Shape& extents, Phase phase)>;

  /// `transport`: to the other ranks of the run; null: all cores are in this process.
  Session(const OpTable& ops, Lower lower, WorkerPool& pool, Transport* transport = nullptr,
          ArenaMode arenas = ArenaMode::kPlain)
      : ops_(ops),
        lower_(std::move(lower)),
        pool_(pool),
        transport_(transport != nullptr ? *transport : in_process_),
        arenas_(arenas) {}

  /// Returns the plan for an input size; allocates none of the memory that the plan counts. The reference is valid
  /// while the plan is kept (keep_plans), at least until the next one is requested. Errors: those of lowering, kBudget
  /// among them.
  const Executable& plan(const Shape& extents, Phase phase);
  /// Returns the bytes of a plan, also known after the plan was evicted. Errors: as plan().
  PlanBytes bytes(const Shape& extents, Phase phase);
  /// Sets what lowers the model within another {host-memory}, of so many bytes.
  void set_lower_within(std::function<Executable(const Shape& extents, Phase phase, std::int64_t budget_bytes)> lower) {
    lower_within_ = std::move(lower);
  }
  /// Returns the bytes of the plan that would be made within another {host-memory}; none where that fails too, or
  /// set_lower_within() was not called. Keeps nothing.
  std::optional<PlanBytes> bytes_within(const Shape& extents, Phase phase, std::int64_t budget_bytes) const;
  /// Lowers the model for cores that take turns, over that partition, or without one over the first that is within the
  /// budget of this rank. None, or kBudget, where none is.
  using LowerInTurns =
      std::function<std::optional<Executable>(const Shape& extents, Phase phase, const std::optional<Dims>& over)>;
  /// Sets it, for who decides that cores take turns (take_turns()) where Lower did not: ranks agree on a partition.
  void set_lower_in_turns(LowerInTurns lower) { lower_in_turns_ = std::move(lower); }
  bool may_take_turns() const { return lower_in_turns_ != nullptr; }
  /// Returns the partition over which this rank's cores would take turns; none where none is within its budget. Keeps
  /// nothing. Requires: may_take_turns().
  std::optional<Dims> turns_over(const Shape& extents, Phase phase) const;
  /// From now on that size is planned for cores that take turns over that partition, on which all ranks agreed; plan()
  /// refuses it where this rank's are over its budget.
  void take_turns(const Shape& extents, Phase phase, const Dims& partition);
  /// Keeps the most recently requested plans, up to `most_bytes` in total; 0: all. The newest and that of the core set
  /// stay.
  void keep_plans(std::int64_t most_bytes);
  std::size_t kept_plans() const { return kept_.size(); }
  /// Returns the core set for that size; the previous one is released first, but its arenas go on as those of the new
  /// one, so that pages which both need are not given back and cleared anew.
  CoreSet& cores(const Shape& extents, Phase phase);
  /// Releases the core set and its arenas.
  void release() { cores_.reset(); }
  /// Sets the stop check of all core sets made later, see CoreSet::set_stop().
  void set_stop(StopCheck stop) { stop_ = std::move(stop); }
  /// Sets what opens a file of so many bytes for the arenas of cores that take turns; what the file held before is not
  /// needed any more. The descriptor stays open while the session lives.
  void set_scratch(std::function<int(std::int64_t bytes)> scratch) { scratch_ = std::move(scratch); }
  /// True when the stop check returns true now.
  bool stop_requested() const { return stop_ && stop_(); }

  /// The place of this session among those of its process that take turns; 0 where it is the only one. All ranks give
  /// the sessions of one model the same number.
  std::size_t number() const { return number_; }
  void set_number(std::size_t number) { number_ = number; }

  Parameters& parameters() { return parameters_; }
  WorkerPool& pool() { return pool_; }
  /// The transport to the other ranks of the run, or that of a single process.
  Transport& transport() { return transport_; }

 private:
  using Key = std::pair<Phase, Shape>;
  const OpTable& ops_;
  Lower lower_;
  std::function<Executable(const Shape& extents, Phase phase, std::int64_t budget_bytes)> lower_within_;
  LowerInTurns lower_in_turns_;
  WorkerPool& pool_;
  InProcessTransport in_process_;
  Transport& transport_;
  ArenaMode arenas_;
  Parameters parameters_;
  std::size_t number_ = 0;
  StopCheck stop_;
  std::function<int(std::int64_t bytes)> scratch_;
  struct Kept {
    Key key;
    std::unique_ptr<Executable> executable;
  };
  void evict();
  Executable lowered(const Key& key) const;
  bool is_live(const Key& key) const { return cores_ != nullptr && key == live_; }

  std::list<Kept> kept_;  // most recently requested first
  std::map<Key, PlanBytes> bytes_;
  std::map<Key, Dims> turns_;  // the partitions of take_turns()
  std::int64_t most_kept_bytes_ = 0;
  std::unique_ptr<CoreSet> cores_;
  Key live_;
};

}  // namespace voxshard
