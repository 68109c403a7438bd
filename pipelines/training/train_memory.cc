#include "pipelines/training/train_memory.h"

#include <algorithm>
#include <limits>
#include <set>

#include "io/system/process_memory.h"
#include "libcore/ops/op_table.h"
#include "pipelines/model_runs/rank_json.h"
#include "pipelines/training/fine_tuning.h"

namespace voxshard {
namespace {

/// Returns the parts of a plan that its process holds throughout.
std::int64_t held_bytes(const ProcessPlan& plan) {
  return plan[MemoryPart::kBase] + plan[MemoryPart::kPlans] + plan[MemoryPart::kLibraries];
}

/// Returns the voxels or pixels that are fed at once: of the boxes of `workers` cores, one sample each; or with
/// kPerHost of whole samples, one per replica and at most one per worker.
std::int64_t fed_points(const ModelSpec& spec, const Shape& extents, int workers, FeedMode feed, const Ranks& place) {
  const std::int64_t cores = spec.cut.mesh.cores(), own = place.end(cores) - place.first(cores);
  std::int64_t points = 1;
  if (feed == FeedMode::kPerHost) {
    for (int a = 1; a < extents.axes(); ++a) points *= extents[a];
    return points * std::min<std::int64_t>(workers, spec.cut.mesh.replicas);
  }
  for (int a = 1; a < extents.axes(); ++a) points *= ceil_div(extents[a], spec.cut.mesh.partition[a]);
  return points * std::min<std::int64_t>(workers, own);
}

struct Training {
  Session& session;
  const TrainingTask& task;
  const ModelSpec& spec;
  const TrainingSize& size;

  ProcessPlan step(const Shape& extents) const {
    return plan_of(session.bytes(extents, Phase::kTrain).run) +
           ProcessPlan{{MemoryPart::kFeeding, staged_bytes(extents)}} +
           task.step_plan(
               {.extents = extents,
                .box_points = fed_points(spec, extents, size.threads, size.feed, session.transport().place()),
                .workers = size.threads});
  }

  /// Returns the plan of the step that takes most: of crops and whole samples a cut may make either the larger one.
  ProcessPlan widest_step() const {
    ProcessPlan plan = step(size.extents);
    const std::optional<SampleSizes> sizes = task.sample_sizes(size.extents[0]);
    if (sizes && sizes->has_whole && sizes->largest_crop.axes() > 0)
      plan = widest(plan, widest(step(sizes->largest_crop), step(sizes->largest_whole)));
    return plan;
  }

  /// Returns the bytes of whole samples in memory before they are fed: all inputs of all replicas.
  std::int64_t staged_bytes(const Shape& extents) const {
    if (size.feed == FeedMode::kBoxes) return 0;
    std::int64_t bytes = 0;
    for (const Node& node : session.plan(extents, Phase::kTrain).program.graph.nodes())
      if (node.role == Role::kInput) bytes += node.type.bytes();
    return bytes;
  }

  /// Returns the memory of a whole run within a budget of the process, which may itself be over it.
  ///   resident_bytes  those of the process, its kernels and libraries loaded
  ProcessPlan whole(std::int64_t budget_bytes, std::int64_t resident_bytes, const RunContext& context) const {
    constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
    session.keep_plans(kept_plans_bytes(0, kAll, 0));
    const PlanBytes first = session.bytes(size.extents, Phase::kTrain);
    ProcessPlan lasting = plan_of(first.run);  // the memory of a core set that outlives it
    for (const MemoryPart part :
         {MemoryPart::kArenas, MemoryPart::kGradients, MemoryPart::kPacked, MemoryPart::kWorkspaces})
      lasting[part] = 0;
    ProcessPlan plan = widest(
        widest_step(), lasting + ProcessPlan{{MemoryPart::kCheckpoint, std::max(lasting.total(), size.from_bytes)}});
    std::int64_t largest = first.kept, all = first.kept * std::min(size.steps, task.step_sizes(size.extents[0]));
    std::set<Shape> seen;
    for (const Shape& extents : task.validation_extents(spec)) {
      throw_if_stopped(context.progress());
      if (!seen.insert(extents).second) continue;
      const PlanBytes bytes = session.bytes(extents, Phase::kPredict);
      ProcessPlan cores = plan_of(bytes.run);
      cores[MemoryPart::kWeights] = cores[MemoryPart::kOptimizer] = 0;  // part of `lasting`
      plan = widest(plan, lasting + cores + task.validation_plan(extents));
      largest = std::max(largest, bytes.kept), all += bytes.kept;
    }
    const ProcessPlan base = base_plan(context.base_bytes());
    const std::int64_t room = left_of(budget_bytes, (base + plan).total());
    const std::int64_t kept = size.traced ? all : kept_plans_bytes(largest, all, room);
    session.keep_plans(size.traced ? 0 : kept);
    ProcessPlan held = base + ProcessPlan{{MemoryPart::kPlans, std::min(all, kept)}};
    held += libraries_plan(resident_bytes, held + task.loaded_plan());
    return plan + held;
  }

  /// Returns advice: a size halved along its longest axis until a step fits, or other remedies.
  std::string smaller_step(std::int64_t most_bytes) const {
    constexpr std::int64_t kStep = 16;
    if (spec.model->size != nullptr) return "Give it more, or a smaller {batch}";
    for (Shape extents = size.extents;;) {
      int longest = 1;
      for (int a = 2; a < extents.axes(); ++a)
        if (extents[a] > extents[longest]) longest = a;
      if (extents[longest] <= kStep)
        return "Give it more, fewer base filters, or recompute more ({recompute} upsampling)";
      extents[longest] = ceil_div(extents[longest] / 2, kStep) * kStep;
      if (step(extents).total() > most_bytes) continue;
      std::string text = std::to_string(extents[1]);
      for (int a = 2; a < extents.axes(); ++a) text += "x" + std::to_string(extents[a]);
      return task.size_setting(text) + " would fit, or recompute more ({recompute} upsampling)";
    }
  }
};

/// Returns the memory of a run within another budget, its grid planned anew where one is. Errors: kBudget where the
/// step alone is over it.
std::int64_t bytes_within(std::int64_t budget_bytes, ModelSpec spec, const PlannedRun& run, const RunContext& context) {
  const std::int64_t left = left_of(budget_bytes, context.base_bytes());
  if (run.grid) {
    NoProgress quiet;  // these plans are only tried
    PlanRequest request = *run.grid;
    request.host_budget_bytes = left;
    spec = planned_spec(request, spec, run.size.extents, run.options.optimizer,
                        {.threads = context.threads(), .progress = &quiet, .advises = false});
  }
  const auto session = training_session(
      run.options, spec, {.core_bytes = context.core_budget_bytes(), .process_bytes = left, .caller_names = true},
      context);
  return Training{*session, run.task, spec, run.size}.whole(budget_bytes, resident_bytes(), context).total() +
         kMeasuredDiffer;
}

}  // namespace

TrainingSize training_size(const TrainOptions& o, const Shape& extents, const RunContext& context) {
  return {.extents = extents,
          .steps = o.steps,
          .threads = context.threads(),
          .traced = !o.trace.file.empty(),
          .feed = o.feed,
          .from_bytes = o.from.empty() ? 0 : largest_checkpoint_bytes(o.from)};
}

std::unique_ptr<Session> training_session(const TrainOptions& o, const ModelSpec& spec, const Budget& budget,
                                          const RunContext& context) {
  auto session = std::make_unique<Session>(op_table(),
                                           lowering_of(spec, budget,
                                                       {.optimizer_slots = Optimizer::slots(o.optimizer),
                                                        .keeps_average = o.optimizer.ema > 0,
                                                        .workers = context.threads(),
                                                        .ranks = context.transport().place()}),
                                           context.pool(), &context.transport());
  session->set_stop(context.progress().stop_check());
  return session;
}

std::optional<std::int64_t> training_budget(const PlannedRun& run, const RunContext& context) {
  std::vector<ModelSpec> specs = {run.spec};
  // Within more memory the recipe may choose the other precision.
  const bool is_chosen = std::ranges::count(run.options.chosen, "precision", &Choice::option) > 0;
  if (is_chosen && run.spec.precision != DType::kF32) specs.push_back(run.spec), specs.back().precision = DType::kF32;
  return budget_that_does(context.budget_bytes(), [&](std::int64_t budget_bytes) {
    throw_if_stopped(context.progress());
    std::optional<std::int64_t> most;
    for (const ModelSpec& spec : specs) try {
        most = std::max(most.value_or(0), bytes_within(budget_bytes, spec, run, context));
      } catch (const Error&) {  // over that budget too, or a size that no kernel takes
      }
    return most;
  });
}

void name_budget(const WouldDo& would_do, const std::function<void()>& plan) {
  try {
    plan();
  } catch (const Error& e) {
    const auto bytes = e.kind() == ErrorKind::kBudget && would_do ? would_do() : std::nullopt;
    if (!bytes) throw;
    throw naming_host_memory(e, *bytes);
  }
}

ProcessPlan plan_training(Session& session, const TrainingTask& task, const ModelSpec& spec, const TrainingSize& size,
                          const RunContext& context, const WouldDo& would_do) {
  const Training training{session, task, spec, size};
  session.bytes(size.extents, Phase::kTrain);  // loads kernels, before what is resident is measured
  ProcessPlan plan = training.whole(context.budget_bytes(), context.resident_when_planned(), context);
  if (context.budget_bytes() > 0 && plan.total() > context.budget_bytes())
    require_fits(plan, context.budget_bytes(), ErrorKind::kBudget, "this training",
                 training.smaller_step(left_of(context.budget_bytes(), held_bytes(plan))), would_do);
  return plan;
}

bool fits_memory(const TrainOptions& o, const TrainingTask& task, const Shape& extents, const RunContext& context) {
  const TrainingSize size = training_size(o, extents, context);
  NoProgress quiet;  // this plan is only tried
  Budget budget = context.step_budget();
  budget.caller_names = true;
  try {
    ModelSpec spec = o.spec;
    if (o.plan)
      spec = planned_spec(
          beside_held(*o.plan, context), spec, size.extents, o.optimizer,
          {.threads = context.threads(), .ranks = context.transport().ranks(), .progress = &quiet, .advises = false});
    require_core_per_rank(context.transport(), spec.cut.mesh);
    plan_training(*training_session(o, spec, budget, context), task, spec, size, context);
    return true;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kBudget) throw;
    return false;
  }
}

}  // namespace voxshard
