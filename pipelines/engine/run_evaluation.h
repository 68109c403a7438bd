// Scores of a run on data, batch by batch, as TPUEstimator's evaluate computes them: a graph of the evaluation phase
// gives the loss, the task gives its own scores. Batches are whole and follow the order of the cases; cases that fill
// no batch are dropped, and with `steps` the data are repeated. Norms use their running statistics.
//
//   class VolumeScores : public RunEvaluation { ... };
//   return evaluate_run(options, std::move(run), context, [&](const TrainedRun& run) { return
//   std::make_unique<VolumeScores>(run); });
#pragma once

#include <memory>
#include <set>

#include "pipelines/engine/core_runs.h"
#include "pipelines/engine/requests.h"
#include "pipelines/engine/run_context.h"

namespace voxshard {

struct NamedScore {
  std::string name;  // a key of JSON: "accuracy"
  double value = 0;  // NaN where nothing counts
};

/// One evaluation of a run by one task. Every process of the run makes one; score() and totals() are called on rank 0
/// only.
class RunEvaluation {
 public:
  virtual ~RunEvaluation() = default;
  /// Returns the name of the loss: "dice_ce".
  virtual std::string loss_name() const = 0;
  /// Returns how the task's own scores are averaged: "accuracy over voxels"; it follows "loss over replicas and
  /// batches, ".
  virtual std::string rule() const = 0;
  /// Returns the names of the cases, in their order.
  virtual std::vector<std::string> cases() const = 0;
  /// Returns the cases that cannot be used and are left out.
  virtual std::vector<CaseFailure> failures() const { return {}; }
  /// Returns the cases that the run was trained on.
  virtual SeenInputs seen(const TrainedOn& trained_on) const = 0;

  /// Returns the extents (N and the spatial axes) of a batch of these cases.
  virtual Shape extents(std::span<const std::size_t> cases) const = 0;
  /// Returns the memory that a batch takes beside its core set.
  virtual ProcessPlan batch_plan(const Shape& extents) const = 0;
  /// Loads the samples [begin, end) of a batch, those that this process needs. Errors: kInput names a case that cannot
  /// be read.
  virtual void load(std::span<const std::size_t> cases, std::int64_t begin, std::int64_t end, WorkerPool& pool) = 0;
  /// Fills a core's box of an input. Threads: several at once.
  virtual void fill(const InputInfo& input, const TensorView& box) const = 0;
  /// Releases the samples of the batch, which are not read again.
  virtual void unload() {}

  /// Returns the function that serialises a core's results beside the loss (values_of_cores()); empty: there are none.
  /// Threads: several cores at once.
  virtual SerialiseCore find() const { return {}; }
  /// Returns the function that takes these results of every core of a batch. Threads: several cores at once.
  virtual TakeCore take() { return {}; }
  /// Returns the loss of one group of samples from its row of "loss_sums" (see the kernels of the loss).
  ///   sums  (1, sums per group) f64
  virtual double loss_of(const TensorView& sums) const = 0;
  /// Returns the task's own scores of the batch that was run last, always with the same names.
  ///   sums  all rows of "loss_sums"
  virtual std::vector<NamedScore> score(std::span<const std::size_t> cases, const TensorView& sums) = 0;
  /// Returns the task's own scores over all batches.
  virtual std::vector<NamedScore> totals() const = 0;
};

struct EvaluatedBatch {
  std::vector<std::string> cases;
  std::vector<double> losses;  // by replica
  std::vector<NamedScore> own;
  double loss() const;  // the mean over replicas
};

struct RunScores {
  std::filesystem::path checkpoint;
  std::string weights;    // as in TrainedRun
  std::int64_t step = 0;  // training step at which the checkpoint was saved
  std::string loss_name, rule;
  Mesh mesh;
  std::int64_t batch = 0;
  std::vector<EvaluatedBatch> batches;
  SeenInputs seen;
  std::vector<std::string> dropped;  // cases that fill no batch
  std::vector<CaseFailure> failures;
  double loss = 0, loss_replica_0 = 0;  // means over the batches
  std::vector<NamedScore> own;
  double seconds = 0;
  ProcessPlan memory;
};
nlohmann::ordered_json to_json(const RunScores& scores);
std::string to_text(const RunScores& scores);

/// Evaluates a run; all processes call it, and only rank 0 gets scores. Errors: kNoCase when the data do not fill one
/// batch; kConfig for a batch size that the replicas do not divide, or processes that see different cases; kBudget;
/// Stopped.
RunScores evaluate_run(const EvaluateOptions& options, TrainedRun run, const RunContext& context,
                       RunEvaluation& evaluation);

/// Throws kUsage for a given setting that is not among `of_run`, since it applies to `predictions` ("label maps") only.
void require_settings_of_run(const EvaluateOptions& options, const std::set<std::string>& of_run,
                             const std::string& predictions);

/// Evaluates a run and returns the scores as the report of a command; also writes them to options.summary.
TaskReport report_run_scores(const EvaluateOptions& options, TrainedRun run, const RunContext& context,
                             RunEvaluation& evaluation);

}  // namespace voxshard
