// A model on a core set: executables by input size, made once and reused; the parameters; one core set alive at a time.
//
//   Session session({.factory = unet, .mesh = mesh}, pool);
//   CoreSet& cores = session.cores({1, 64, 64, 64}, Phase::kTrain);
#pragma once

#include <functional>
#include <memory>

#include "libcore/runtime/core_set.h"

namespace voxshard {

enum class Phase { kTrain, kPredict };

struct SessionOptions {
  /// The global graph for input extents (N and the spatial axes), without recomputation.
  std::function<Graph(const Shape& extents, Phase phase)> factory;
  Cut cut;
  KernelSet kernels = KernelSet::kFast;
  std::int64_t core_budget_bytes = 0;  // per core; 0: no limit
  std::int64_t host_budget_bytes = 0;  // all cores and workers of this process together; 0: no limit
  std::int64_t optimizer_bytes = 0;    // counted on every core while training
};

class Session {
 public:
  Session(SessionOptions options, WorkerPool& pool);

  /// The plan for an input size; allocates nothing that the plan counts. Errors: kBudget when a core would need more
  /// than its budget: the needed bytes per core, the five largest allocations and a partition that fits; or the process
  /// more than its own.
  const Executable& plan(const Shape& extents, Phase phase);
  /// The core set for that size; the one before is released first.
  CoreSet& cores(const Shape& extents, Phase phase);
  void release();

  Parameters& parameters() { return parameters_; }
  WorkerPool& pool() { return pool_; }
  const SessionOptions& options() const { return options_; }

 private:
  using Key = std::pair<Phase, Shape>;
  SessionOptions options_;
  WorkerPool& pool_;
  InProcessTransport transport_;
  Parameters parameters_;
  std::map<Key, std::unique_ptr<Executable>> executables_;
  std::unique_ptr<CoreSet> cores_;
  Key live_;
};

/// The widest core of an executable: its number and bytes.
std::pair<std::size_t, std::int64_t> widest_core(const Executable& executable, std::int64_t optimizer_bytes);

/// A finer partition under which every core stays within `budget_bytes`: the axis with the widest parts is cut in two
/// until it fits or 128 cores are reached. Nullopt when none fits.
std::optional<Dims> partition_that_fits(const SessionOptions& options, const Shape& extents, Phase phase,
                                        std::int64_t budget_bytes);

/// "1.50 GiB", "12.3 MiB".
std::string bytes_text(std::int64_t bytes);

}  // namespace voxshard
