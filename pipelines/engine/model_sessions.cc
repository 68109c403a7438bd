#include "pipelines/engine/model_sessions.h"

#include <utility>

#include "pipelines/model_runs/averaged_runs.h"

namespace voxshard {

ModelSessions::ModelSessions(std::vector<Session*> sessions)
    : sessions_(std::move(sessions)), planned_(sessions_.size()) {
  ensure(!sessions_.empty(), "a batch predicts with a model");
  for (std::size_t model = 0; model < sessions_.size(); ++model) sessions_[model]->set_number(model);
}

Session& ModelSessions::session(std::size_t model) {
  for (std::size_t other = 0; other < sessions_.size(); ++other)
    if (other != model) sessions_[other]->release();
  return *sessions_.at(model);
}

void ModelSessions::release() {
  for (Session* session : sessions_) session->release();
}

PredictingProcess ModelSessions::process_of(std::size_t model, PredictingProcess process) const {
  for (std::size_t other = 0; other < sessions_.size(); ++other)
    if (other != model)
      process.beside_bytes +=
          parameter_bytes(sessions_[other]->parameters()) + planned_[other].held[MemoryPart::kPlans];
  return process;
}

ProcessPlan ModelSessions::held() const {
  ProcessPlan held;
  std::int64_t weights = 0, plans = 0;
  for (const PlannedBytes& planned : planned_) {
    if (planned.held.total() == 0) continue;  // no size was planned
    held = planned.held;
    weights += held[MemoryPart::kWeights], plans += held[MemoryPart::kPlans];
  }
  held[MemoryPart::kWeights] = weights, held[MemoryPart::kPlans] = plans;
  return held;
}

OwnedSessions sessions_of(TrainedRun& run, const RunContext& context,
                          const std::function<std::int64_t(std::size_t model)>& beside) {
  std::int64_t weights = 0;
  for_each_run(run, [&](const TrainedRun& one) { weights += parameter_bytes(one.parameters); });
  OwnedSessions sessions;
  for_each_run(run, [&](TrainedRun& one) {
    const std::int64_t others = weights - parameter_bytes(one.parameters);
    sessions.push_back(context.session(one, {.bytes = others, .bytes_per_element = beside(sessions.size())}));
  });
  return sessions;
}

ModelSessions in_turns(const OwnedSessions& owned) {
  std::vector<Session*> sessions;
  for (const auto& session : owned) sessions.push_back(session.get());
  return ModelSessions(std::move(sessions));
}

}  // namespace voxshard
