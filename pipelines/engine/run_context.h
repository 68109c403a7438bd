// The execution context of a command: its worker threads, the processes of the run, its progress and its memory. The
// command makes one and passes it on by reference; none of its parts is ever null.
//
//   RunContext context(progress, {.threads = 4, .host_budget_bytes = 8 << 30});
//   run_predict(options, context);
//   context.pool().run(...);   context.left_bytes();   if (context.writes()) write_json(...);
//
// Each process of a run has its own context. Values on which the processes must agree go through broadcast() and any(),
// which all of them call at the same place.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "io/files/scratch_file.h"
#include "io/output/part_log.h"
#include "io/system/process_memory.h"
#include "libcore/base/parallel.h"
#include "pipelines/engine/host_memory.h"
#include "pipelines/model_runs/trained_run.h"

namespace voxshard {

/// The threads, memory and processes that the user grants a command.
struct RunResources {
  int threads = 1;
  std::int64_t core_budget_bytes = 0;  // of one emulated core; 0: no limit
  std::int64_t host_budget_bytes =
      0;                           // of this process; 0: the bytes it holds and its share of the machine's free memory
  Transport* transport = nullptr;  // to the other processes of the run; null: there are none
  /// The folder for the file of cores that take turns where an input exceeds the budget; empty: such inputs are
  /// refused.
  std::filesystem::path scratch = {};
};

/// The memory that a process holds beside a session.
struct BesideSession {
  std::int64_t bytes = 0;   // weights of other models, what the task holds already
  BytesBeside per_element;  // of the image
};

class RunContext {
 public:
  /// Measures the bytes that the process holds now, the base of its plans. Errors: kBudget where they exceed it.
  RunContext(Progress& progress,
             const RunResources& resources = {});  // NOLINT: a command may be given its progress alone
  RunContext(const RunContext&) = delete;
  RunContext& operator=(const RunContext&) = delete;

  Progress& progress() const { return progress_; }
  const RunResources& resources() const { return resources_; }
  int threads() const { return resources_.threads; }
  /// Returns the pool of threads() workers, which is made on the first call.
  WorkerPool& pool() const;
  Transport& transport() const { return transport_; }

  const HostMemory& memory() const { return memory_; }
  std::int64_t core_budget_bytes() const { return resources_.core_budget_bytes; }
  /// Returns the memory budget of this process, its base included; 0: unknown, no limit.
  std::int64_t budget_bytes() const { return memory_.budget_bytes(); }
  std::int64_t base_bytes() const { return memory_.base_bytes(); }
  /// Returns the part of that budget that is left for the work; 0: no limit.
  std::int64_t left_bytes() const { return left_of(budget_bytes(), base_bytes()); }
  /// Returns the budget of a step alone, as host_budget(): of what was given, what the process holds is taken off.
  Budget step_budget() const {
    Budget budget = host_budget(resources_.core_budget_bytes, left_of(resources_.host_budget_bytes, base_bytes()),
                                transport_.ranks_here());
    budget.held_bytes = base_bytes();
    return budget;
  }
  /// Returns the resident bytes of the process at the first call, when its kernels and libraries are loaded. What a
  /// measured training leaves behind is used again by the one that follows, and counts only once.
  std::int64_t resident_when_planned() const {
    if (resident_when_planned_ == 0) resident_when_planned_ = resident_bytes();
    return resident_when_planned_;
  }
  PredictingProcess predicting(std::int64_t loaded_bytes = 0) const {
    return {budget_bytes(), base_bytes(), loaded_bytes};
  }
  /// Makes a session within the budgets from the run's parameters, which are moved out of the run. With a scratch
  /// folder its cores take turns where a plan exceeds the budget; the context outlives the session.
  /// Errors: as prediction_session().
  std::unique_ptr<Session> session(TrainedRun& run, const BesideSession& beside = {}) const;

  /// True when the run has this process alone.
  bool alone() const { return transport_.ranks() == 1; }
  /// True on rank 0, the one process that writes the outputs and reports.
  bool writes() const;
  /// Throws kUsage where several processes run: `what`, words of an option, works in one alone.
  void require_one_process(const std::string& what) const;
  /// Broadcasts the value of `own`, which only rank 0 calls, to all processes.
  nlohmann::ordered_json broadcast(const std::function<nlohmann::ordered_json()>& own) const;
  /// True on all processes when `mine` is true on any of them.
  bool any(bool mine) const;
  /// Returns when all processes have called it.
  void barrier() const { any(false); }
  /// Opens the log of the parts that this process writes into a folder that rank 0 has started. Errors: kInput,
  /// kOutput.
  std::unique_ptr<PartLog> own_log(const std::filesystem::path& folder) const;
  /// Sums `counts` element by element over all processes, which must all have the same number of elements.
  void add_up(std::vector<std::int64_t>& counts) const;
  /// Throws kConfig when the facts of a process differ from those of rank 0; the message names the process and the
  /// fact.
  void require_alike(const std::vector<std::pair<std::string, std::string>>& facts) const;
  /// Gathers the memory reports of several processes on rank 0 (gather_reports); returns null on other ranks and for
  /// one process.
  nlohmann::ordered_json gather_memory(const ProcessReport& own) const;

 private:
  Progress& progress_;
  RunResources resources_;
  InProcessTransport alone_;
  Transport& transport_;
  HostMemory memory_;
  mutable std::unique_ptr<WorkerPool> pool_;
  mutable ScratchFile scratch_;
  mutable std::int64_t resident_when_planned_ = 0;
};

}  // namespace voxshard
