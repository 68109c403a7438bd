// A trained model ready to predict: what a run folder or a checkpoint file holds, and the session for it.
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
      "auto";                     // "best", "last" or auto: best when there is one; of a damaged one the one before it
  std::optional<Dims> partition;  // other than that of the training
  std::optional<DType> precision;
  ModelTable models = model_table();
  Transport* transport =
      nullptr;  // to the other ranks, which take the checkpoint that rank 0 chose; null: there are none
};

struct TrainedRun {
  std::filesystem::path file;           // the checkpoint
  std::vector<std::string> notes = {};  // what to tell of it: a newer one that is damaged
  ModelSpec spec;                       // for prediction: one replica
  std::int64_t replicas = 1;            // of the training
  std::int64_t step = 0;                // of the training, that the checkpoint was saved at
  nlohmann::json preparation;           // as the training task wrote it
  TrainedOn trained_on = {};
  Parameters parameters;
};

/// Errors: kInput when it is missing; kCheckpoint when it is damaged or its parameters are not those of its model;
/// kUsage for another checkpoint than those three; kConfig for a partition of the wrong rank.
TrainedRun load_trained_run(const TrainedRunOptions& options);

/// Whether a path is what load_trained_run takes: a checkpoint file, or a folder that `train` began.
bool is_trained_run(const std::filesystem::path& path);

/// A session with the run's parameters, which are moved out of it. `transport`: to the other ranks; null: there are
/// none. Errors: kConfig for fewer cores than ranks.
std::unique_ptr<Session> prediction_session(TrainedRun& run, const Budget& budget, WorkerPool& pool,
                                            Transport* transport = nullptr);

struct PlannedBytes {
  std::int64_t core = 0;            // of the widest core
  std::int64_t host = 0;            // of all cores and workers of this process
  std::map<Shape, PlanBytes> fits;  // by size
  std::map<Shape, Error> refused;   // sizes over the budget, each with what would fit
  ProcessPlan held;  // by the process all the time: its base, libraries, weights, the plans that are kept

  /// What the core set of a size takes beside that.
  ProcessPlan cores(const Shape& extents) const;
};

/// The process in which predictions are planned.
struct PredictingProcess {
  std::int64_t budget_bytes = 0;  // 0: no limit
  std::int64_t base_bytes = 0;    // 0: not measured
  std::int64_t loaded_bytes =
      0;  // of the inputs, which are planned elsewhere, what is in memory before the plan is made
};

/// Plans a run at every size, N and the spatial axes, on this rank; a size over the budget is refused, and nothing else
/// is. The session keeps as many of the plans as fit. Commands call plan_runs() (engine/core_runs.h).   Errors:
/// Stopped.
PlannedBytes planned_sizes(Session& session, const std::set<Shape>& sizes, Phase phase,
                           const PredictingProcess& process, const StopCheck& stop = {});

}  // namespace voxshard
