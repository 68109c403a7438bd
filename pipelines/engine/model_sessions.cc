#include "pipelines/engine/model_sessions.h"

#include <algorithm>
#include <utility>

#include "io/system/process_memory.h"
#include "pipelines/engine/prediction.h"
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

OwnedSessions sessions_of(TrainedRun& run, const RunContext& context, std::int64_t loaded,
                          const std::function<BytesBeside(std::size_t model)>& beside) {
  std::int64_t weights = 0;
  for_each_run(run, [&](const TrainedRun& one) { weights += parameter_bytes(one.parameters); });
  OwnedSessions sessions;
  for_each_run(run, [&](TrainedRun& one) {
    const std::int64_t others = weights - parameter_bytes(one.parameters);
    sessions.push_back(context.session(one, {.bytes = loaded + others, .per_element = beside(sessions.size())}));
  });
  return sessions;
}

ModelSessions in_turns(const OwnedSessions& owned) {
  std::vector<Session*> sessions;
  for (const auto& session : owned) sessions.push_back(session.get());
  return ModelSessions(std::move(sessions));
}

bool turn_tight_sizes(PredictionBatch& batch, const Prediction& task, const std::vector<PredictionTurn>& turns) {
  const std::int64_t budget = batch.context.budget_bytes();
  std::vector<std::set<Shape>> tight(batch.models());
  bool any = false;
  for (const PredictionTurn& turn : turns) {
    if (turn.extents.empty() || batch.is_refused(turn) || budget <= 0) continue;
    const bool is_small = (batch.planned().held + batch.cores(turn)).total() < budget / 2;
    bool fits = true;  // also an input that cannot be read any more, which its turn reports
    failure_of("", {ErrorKind::kInput, ErrorKind::kBudget}, [&] { fits = is_small || task.fits(turn); });
    if (fits) continue;
    for (std::size_t model = 0; model < tight.size(); ++model) {
      const auto planned = batch.planned(model).fits.find(turn.extents_of(model));
      if (planned != batch.planned(model).fits.end() && !planned->second.run.takes_turns())
        tight[model].insert(planned->first);
    }
  }
  for (std::size_t model = 0; model < tight.size(); ++model) {
    Session& session = batch.session(model);
    if (tight[model].empty() || !session.may_take_turns()) continue;
    let_take_turns(session, tight[model], Phase::kPredict);
    any = true;
  }
  return any;
}

ProcessPlan PredictionBatch::cores(const PredictionTurn& turn) const {
  ProcessPlan most;
  for (std::size_t model = 0; model < models(); ++model)
    most = widest(most, planned(model).cores(turn.extents_of(model)));
  return most;
}

const Error* PredictionBatch::refusal(const PredictionTurn& turn) const {
  for (std::size_t model = 0; model < models(); ++model) {
    const auto& all = planned(model).refused;
    if (const auto refused = all.find(turn.extents_of(model)); refused != all.end()) return &refused->second;
  }
  return nullptr;
}

void PredictionBatch::require_planned(const PredictionTurn& turn, const ProcessPlan& beside) {
  const Error* const refused = refusal(turn);
  if (refused == nullptr) return;
  const ProcessPlan held = widest(planned().held, base_plan(context.base_bytes()));
  const auto bytes = would_do(turn, held + beside, 0);
  throw bytes ? naming_host_memory(*refused, *bytes) : *refused;
}

std::optional<std::int64_t> PredictionBatch::would_do(const PredictionTurn& turn, const ProcessPlan& plan,
                                                      std::int64_t cores) {
  constexpr std::size_t kMostSought = 3;
  if (!context.alone()) return cores > 0 ? std::optional(plan.total() + kMeasuredDiffer) : std::nullopt;
  if (const auto found = sought_.find(turn.extents); found != sought_.end()) return found->second;
  if (sought_.size() >= kMostSought) return std::nullopt;
  const std::int64_t resident = resident_bytes();
  const auto needed = [&](std::int64_t budget_bytes) {
    throw_if_stopped(progress);
    std::int64_t most = plan.total();
    for (std::size_t model = 0; model < models(); ++model) {
      const auto bytes = sessions_.session(model).bytes_within(turn.extents_of(model), Phase::kPredict, budget_bytes);
      if (!bytes) return std::optional<std::int64_t>();
      ProcessPlan own = plan_of(bytes->run);
      own[MemoryPart::kWeights] = 0;  // part of `held`
      const std::int64_t plans = std::max<std::int64_t>(0, bytes->kept - planned(model).held[MemoryPart::kPlans]);
      most = std::max(most, plan.total() - cores + own.total() + plans);
    }
    // Where nothing was planned yet, kernels are loaded only now.
    const std::int64_t loaded = planned().fits.empty() ? std::max<std::int64_t>(0, resident_bytes() - resident) : 0;
    return std::optional<std::int64_t>(most + loaded + kMeasuredDiffer);
  };
  return sought_[turn.extents] = budget_that_does(std::max(context.budget_bytes(), plan.total()), needed);
}

void PredictionBatch::take(const PredictionTurn& turn, const ProcessPlan& beside, const std::string& what,
                           const std::string& fits) {
  require_planned(turn, beside);
  const std::int64_t own = cores(turn).total();
  const ProcessPlan plan = planned().held + cores(turn) + beside;
  require_fits(plan, context.budget_bytes(), ErrorKind::kInput, what, fits, [&] { return would_do(turn, plan, own); });
  takes(plan);
}

}  // namespace voxshard
