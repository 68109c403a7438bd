#include "pipelines/tasks/follow_predictions.h"

namespace voxshard {
namespace {

PredictingProcess process_of(const PredictOptions& o) { return {o.host_budget_bytes, o.base_bytes}; }

}  // namespace

std::unique_ptr<Session> prediction_session(const PredictOptions& o, TrainedRun& run, WorkerPool& pool) {
  return prediction_session(
      run, {.core_bytes = o.core_budget_bytes, .process_bytes = left_of(o.host_budget_bytes, o.base_bytes)}, pool,
      o.transport);
}

PredictReport follow_predictions(const PredictOptions& options, TrainedRun run, const RankWork& work,
                                 const Progress& progress) {
  WorkerPool pool(options.threads);
  const std::unique_ptr<Session> session = prediction_session(options, run, pool);
  session->set_stop(progress.stop_check());
  PredictReport report;
  lead(*session, work, process_of(options), {}, &report.memory.plan);
  return report;
}

void lead_predictions(const PredictOptions& options, Session& session, const RankWork& work,
                      const std::function<void()>& body) {
  lead(session, work, process_of(options), [&] { return body(), std::string(); });
}

}  // namespace voxshard
