// A model on a core set: executables by input size, made once and reused; the parameters; one core set alive at a time.
//
//   Session session([&](const Shape& extents, Phase phase) { return lower(build(extents, phase), ...); }, pool);
//   CoreSet& cores = session.cores({1, 64, 64, 64}, Phase::kTrain);
#pragma once

#include <functional>
#include <memory>

#include "libcore/runtime/core_set.h"

namespace voxshard {

enum class Phase { kTrain, kPredict };

class Session {
 public:
  /// Lowers the model for input extents (N and the spatial axes), within its budget.
  using Lower = std::function<Executable(const Shape& extents, Phase phase)>;

  /// `transport`: to the other ranks of the run; null: all cores are in this process.
  Session(const OpTable& ops, Lower lower, WorkerPool& pool, Transport* transport = nullptr, ArenaMode arenas = ArenaMode::kPlain)
      : ops_(ops), lower_(std::move(lower)), pool_(pool), transport_(transport != nullptr ? *transport : in_process_), arenas_(arenas) {}

  /// The plan for an input size; allocates nothing that the plan counts. Errors: those of lowering, kBudget among them.
  const Executable& plan(const Shape& extents, Phase phase);
  /// The core set for that size; the one before is released first.
  CoreSet& cores(const Shape& extents, Phase phase);
  void release() { cores_.reset(); }
  /// Of all core sets that there will be, see CoreSet::set_stop().
  void set_stop(StopCheck stop) { stop_ = std::move(stop); }

  Parameters& parameters() { return parameters_; }
  WorkerPool& pool() { return pool_; }

 private:
  using Key = std::pair<Phase, Shape>;
  const OpTable& ops_;
  Lower lower_;
  WorkerPool& pool_;
  InProcessTransport in_process_;
  Transport& transport_;
  ArenaMode arenas_;
  Parameters parameters_;
  StopCheck stop_;
  std::map<Key, std::unique_ptr<Executable>> executables_;
  std::unique_ptr<CoreSet> cores_;
  Key live_;
};

}  // namespace voxshard
