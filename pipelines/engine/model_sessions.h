// The sessions of the models with which a batch predicts, one model after another: one core set is in memory at a time,
// beside the weights of all models. One model alone is the usual case.
//
//   ModelSessions models({&first, &second});
//   models.planned(1) = planned_sizes(models.session(1), sizes, Phase::kPredict, models.process_of(1, process));
//   models.held();                                           // base, libraries, all weights, the plans that are kept
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "pipelines/engine/run_context.h"
#include "pipelines/model_runs/trained_run.h"

namespace voxshard {

class ModelSessions {
 public:
  ModelSessions() = default;
  /// Numbers the sessions in this order; they must outlive this.
  explicit ModelSessions(std::vector<Session*> sessions);

  std::size_t count() const { return sessions_.size(); }
  Transport& transport() const { return sessions_.front()->transport(); }
  /// Returns the session of a model, once the core sets of the others are released.
  Session& session(std::size_t model);
  /// Releases the core sets of all models.
  void release();

  /// What was planned for a model; the task of who plans it to set.
  PlannedBytes& planned(std::size_t model) { return planned_.at(model); }
  /// Returns `process` as a model is planned in it: beside it stand the weights of the others and the plans that these
  /// keep.
  PredictingProcess process_of(std::size_t model, PredictingProcess process) const;
  /// Returns what the process holds throughout: as PlannedBytes::held of one model, with the weights and kept plans of
  /// all. What libraries take was measured when the last of them was planned.
  ProcessPlan held() const;

 private:
  std::vector<Session*> sessions_;
  std::vector<PlannedBytes> planned_;  // by model
};

using OwnedSessions = std::vector<std::unique_ptr<Session>>;

/// Makes the sessions of a run and its others, each beside the weights of all the others.
///   loaded  bytes that the task holds already
///   beside  returns the bytes for each element of a model's image that the task holds
OwnedSessions sessions_of(TrainedRun& run, const RunContext& context, std::int64_t loaded,
                          const std::function<BytesBeside(std::size_t model)>& beside);
ModelSessions in_turns(const OwnedSessions& owned);

class PredictionBatch;
class Prediction;
struct PredictionTurn;

/// Lets the cores take turns at the sizes of the turns at which they would stay in memory, but not with all that an
/// input holds beside them: the planner knows the cores alone. True: there may be such, and all sizes are to be planned
/// anew.
bool turn_tight_sizes(PredictionBatch& batch, const Prediction& task, const std::vector<PredictionTurn>& turns);

}  // namespace voxshard
