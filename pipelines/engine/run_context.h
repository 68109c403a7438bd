// What a command runs in: its worker threads, the processes of the run, its progress and its memory. The command makes
// one and hands it on by reference; none of its parts is ever null.
//
//   RunContext context(progress, {.threads = 4, .host_budget_bytes = 8 << 30});
//   run_predict(options, context);
//   context.pool().run(...);   context.left_bytes();   if (context.writes()) write_json(...);
//
// Several processes of a run each have one. What they have to agree on goes through broadcast() and any(), which all of
// them call at the same place.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "io/files/part_log.h"
#include "libcore/base/parallel.h"
#include "pipelines/engine/host_memory.h"
#include "pipelines/model_runs/trained_run.h"

namespace voxshard {

/// What the user grants a command.
struct RunResources {
  int threads = 1;
  std::int64_t core_budget_bytes = 0;  // of one emulated core; 0: no limit
  std::int64_t host_budget_bytes = 0;  // of this process; 0: what it holds and its share of what the machine has free
  Transport* transport = nullptr;      // to the other processes of the run; null: there are none
};

class RunContext {
 public:
  /// Measures what the process holds now: the base of its memory plans.
  RunContext(Progress& progress,
             const RunResources& resources = {});  // NOLINT: a command may be given its progress alone
  RunContext(const RunContext&) = delete;
  RunContext& operator=(const RunContext&) = delete;

  Progress& progress() const { return progress_; }
  int threads() const { return resources_.threads; }
  /// So many workers; made when it is first asked for.
  WorkerPool& pool() const;
  Transport& transport() const { return transport_; }

  const HostMemory& memory() const { return memory_; }
  std::int64_t core_budget_bytes() const { return resources_.core_budget_bytes; }
  /// Of this process, its base included; 0: nothing tells, no limit.
  std::int64_t budget_bytes() const { return memory_.budget_bytes(); }
  std::int64_t base_bytes() const { return memory_.base_bytes(); }
  /// Of that budget what is left for the work; 0: no limit.
  std::int64_t left_bytes() const { return left_of(budget_bytes(), base_bytes()); }
  PredictingProcess predicting(std::int64_t loaded_bytes = 0) const {
    return {budget_bytes(), base_bytes(), loaded_bytes};
  }
  /// A session with the run's parameters, which are moved out of it, within the budgets. Errors: as
  /// prediction_session().
  std::unique_ptr<Session> session(TrainedRun& run) const;

  /// Whether this process writes the outputs and reports: one of the run does.
  bool writes() const;
  /// The value that `own` returns on the process that writes, which alone calls it, on all processes.
  nlohmann::ordered_json broadcast(const std::function<nlohmann::ordered_json()>& own) const;
  /// Whether `mine` holds on any process.
  bool any(bool mine) const;
  /// Returns when all processes have come here.
  void barrier() const { any(false); }
  /// The log of the parts that this process writes into a folder that another one has started. Errors: kInput, kOutput.
  std::unique_ptr<PartLog> own_log(const std::filesystem::path& folder) const;
  /// Adds the elements of `counts`, of which every process has as many, over all processes.
  void add_up(std::vector<std::int64_t>& counts) const;
  /// Errors: kConfig names a process that sees something else than the one that writes, by the words given.
  void require_alike(const std::vector<std::pair<std::string, std::string>>& facts) const;
  /// On the process that writes, where there are several, a report of each (gather_reports); else null.
  nlohmann::ordered_json gather_memory(const ProcessReport& own) const;

 private:
  Progress& progress_;
  RunResources resources_;
  InProcessTransport alone_;
  Transport& transport_;
  HostMemory memory_;
  mutable std::unique_ptr<WorkerPool> pool_;
};

}  // namespace voxshard
