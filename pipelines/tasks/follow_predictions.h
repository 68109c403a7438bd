// What a rank other than 0 does while rank 0 predicts: it runs the boxes of its cores, knows no input and writes
// nothing.
//
//   if (follows(options)) return follow_predictions(options, std::move(run), volume_work(), progress);
#pragma once

#include "pipelines/runs/lead.h"
#include "pipelines/tasks/requests.h"

namespace voxshard {

inline bool follows(const PredictOptions& options) {
  return options.transport != nullptr && options.transport->rank() > 0;
}

/// A run's session as `options` want it. `run` gives its parameters away.
std::unique_ptr<Session> prediction_session(const PredictOptions& options, TrainedRun& run, WorkerPool& pool);

/// Until rank 0, which is within lead(), says the end; a stop that `progress` hears of stops rank 0 at its next run.
/// Returns the memory that it took, and no cases. Errors: as lead().
PredictReport follow_predictions(const PredictOptions& options, TrainedRun run, const RankWork& work,
                                 const Progress& progress);

/// On rank 0, or alone: `body` with the other ranks following.
void lead_predictions(const PredictOptions& options, Session& session, const RankWork& work,
                      const std::function<void()>& body);

}  // namespace voxshard
