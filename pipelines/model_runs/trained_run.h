// A trained model ready to predict: the content of a run folder or a checkpoint file, and the session for it.
//
//   TrainedRun run = load_trained_run({.run = "model"});
//   std::unique_ptr<Session> session = prediction_session(run, {}, pool);
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pipelines/model_runs/model_spec.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/model_runs/trained_on.h"

namespace voxshard {

struct TrainedRunOptions {
  std::filesystem::path run;  // a run folder, or a checkpoint file
  std::string checkpoint =
      "auto";  // "best", "last" or "auto": best when there is one; a damaged one is replaced by an older one
  // kLastWeights, kAveragedWeights or "auto": those that validated better; averaged ones where nothing was validated
  std::string weights = "auto";
  std::optional<Dims> partition;  // replaces the partition of the training
  std::optional<DType> precision;
  ModelTable models = model_table();
  Transport* transport = nullptr;  // to the other ranks, which load the checkpoint that rank 0 chose; null: one rank
};

struct TrainedRun {
  std::filesystem::path file;           // the checkpoint
  std::vector<std::string> notes = {};  // messages for the user: a newer checkpoint that is damaged
  ModelSpec spec;                       // for prediction: one replica
  std::int64_t replicas = 1;            // replicas of the training
  std::int64_t step = 0;                // training step at which the checkpoint was saved
  nlohmann::json preparation;           // as the training task wrote it
  TrainedOn trained_on = {};
  Parameters parameters;
  std::string weights = {};  // kLastWeights or kAveragedWeights, which `parameters` are; empty: the run has no others
  std::string hash = {};     // of the checkpoint file, where several runs were loaded (averaged_runs.h)
  std::int64_t times = 1;    // how often that run was given: its probabilities count so many times
  std::vector<TrainedRun> others = {};  // the further runs of an average, in their order
};

/// Returns the bytes of the tensors.
std::int64_t parameter_bytes(const Parameters& parameters);

/// Loads a trained model. Errors: kInput when it is missing; kCheckpoint when it is damaged or its parameters are not
/// those of its model; kUsage for another name of a checkpoint or of weights, and for averaged ones of a run that has
/// none; kConfig for a partition with a wrong number of axes.
TrainedRun load_trained_run(const TrainedRunOptions& options);

/// "the averaged weights of run/checkpoints/best.safetensors are used; {weights} last takes the others"; none for a run
/// that keeps no average.
std::optional<std::string> weights_note(const TrainedRun& run);

/// Returns true for a path that load_trained_run takes: a checkpoint file, or a folder that `train` began.
bool is_trained_run(const std::filesystem::path& path);

/// Returns a session with the run's parameters, which are moved out of `run`. `transport`: to the other ranks; null:
/// one rank.
/// Errors: kConfig for fewer cores than ranks.
std::unique_ptr<Session> prediction_session(TrainedRun& run, const Budget& budget, WorkerPool& pool,
                                            Transport* transport = nullptr);

struct PlannedBytes {
  std::int64_t core = 0;            // the core that takes most
  std::int64_t host = 0;            // all cores and workers of this process
  std::map<Shape, PlanBytes> fits;  // by size
  std::map<Shape, Error> refused;   // sizes over the budget, each with what would fit
  ProcessPlan held;  // held by the process throughout: its base, libraries, weights, the plans that are kept

  /// Returns the plan with the largest file of cores that take turns; null when none do.
  const PlanBytes* widest_turns() const;
  /// Returns the memory of the core set of a size, in addition to `held`.
  ProcessPlan cores(const Shape& extents) const;
};

/// The process in which predictions are planned.
struct PredictingProcess {
  std::int64_t budget_bytes = 0;  // 0: no limit
  std::int64_t base_bytes = 0;    // 0: not measured
  std::int64_t loaded_bytes = 0;  // inputs that are in memory before the plan is made; they are planned elsewhere
  std::int64_t beside_bytes = 0;  // weights and plans of other models, the same
};

/// Plans a run at every size (N and the spatial axes) on this rank; only sizes over the budget are refused. The session
/// keeps as many of the plans as fit. Commands call plan_runs() (engine/core_runs.h).   Errors: Stopped.
PlannedBytes planned_sizes(Session& session, const std::set<Shape>& sizes, Phase phase,
                           const PredictingProcess& process, const StopCheck& stop = {});

}  // namespace voxshard
