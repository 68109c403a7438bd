#include "pipelines/model_runs/trained_run.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "io/system/process_memory.h"
#include "libcore/ops/op_table.h"
#include "libcore/planner/budget.h"
#include "libcore/ranks/texts.h"
#include "libcore/train/initialise.h"
#include "pipelines/model_runs/checkpoint_folder.h"
#include "pipelines/model_runs/rank_json.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

ValidCheckpoint load_checkpoint_of(const TrainedRunOptions& options) {
  std::error_code unseen;
  if (!fs::exists(fs::symlink_status(options.run, unseen)))
    throw Error(ErrorKind::kInput, "[run] " + options.run.string() +
                                       ": no such file or folder; give a run folder that train wrote, or a checkpoint");
  if (options.run.extension() == ".safetensors") return load_first_valid({options.run});
  return load_first_valid(checkpoint_files(options.run / "checkpoints", options.checkpoint));
}

/// Returns the weights to use of a checkpoint, or nothing when it has one set alone. Errors: kUsage.
std::string weights_of(const Checkpoint& checkpoint, const std::string& asked, const fs::path& file) {
  if (asked != "auto" && asked != kLastWeights && asked != kAveragedWeights)
    throw Error(ErrorKind::kUsage, "[checkpoint] {weights} is \"" + asked + "\"; expected auto, " + kLastWeights +
                                       " or " + kAveragedWeights);
  if (checkpoint.averages.empty() && asked == kAveragedWeights)
    throw Error(ErrorKind::kUsage,
                "[checkpoint] " + file.string() + " has no averaged weights; leave {weights} out, or train with {ema}");
  if (checkpoint.averages.empty()) return "";
  if (asked != "auto") return asked;
  return checkpoint.state.weights.empty() ? kAveragedWeights : checkpoint.state.weights;
}

/// Returns small extents for which the model has a graph.
Shape small_extents(const ModelSpec& spec) {
  constexpr std::int64_t kSmall = 16;
  const std::int64_t side = std::max(kSmall, spec.multiple());  // a deep network pools more often
  Shape extents{1};
  for (const std::int64_t extent :
       spec.model->size != nullptr ? spec.model->size(spec.config) : Dims::filled(spec.spatial_axes(), side))
    extents.push_back(extent);
  return extents;
}

constexpr std::size_t kMostSizesSought = 3;  // each search makes some plans

/// Halves a size along its longest axis until its plan is within the budget, and returns its spatial axes; none when no
/// size fits.
std::optional<Dims> smaller_size_that_fits(Session& session, Shape extents, Phase phase) {
  constexpr std::int64_t kStep = 32;  // a multiple that every model takes
  while (true) {
    int longest = 1;
    for (int a = 2; a < extents.axes(); ++a)
      if (extents[a] > extents[longest]) longest = a;
    if (extents[longest] <= kStep) return std::nullopt;
    extents[longest] = ceil_div(extents[longest] / 2, kStep) * kStep;
    try {
      session.bytes(extents, phase);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kBudget) throw;
      continue;
    }
    Dims size;
    for (int a = 1; a < extents.axes(); ++a) size.push_back(extents[a]);
    return size;
  }
}

}  // namespace

TrainedRun load_trained_run(const TrainedRunOptions& options) {
  Transport* const transport = options.transport;
  const bool follows = transport != nullptr && transport->rank() > 0;
  ValidCheckpoint found =
      follows ? load_first_valid({broadcast_text(*transport, "", kMostWordBytes)}) : load_checkpoint_of(options);
  if (transport != nullptr && !follows) broadcast_text(*transport, found.file.string(), kMostWordBytes);
  TrainedRun run{.file = std::move(found.file), .notes = std::move(found.notes)};
  Checkpoint& checkpoint = found.checkpoint;
  try {
    run.spec = model_spec_from_json(checkpoint.state.model, options.models);
  } catch (const Error& e) {
    throw Error(ErrorKind::kCheckpoint, run.file.string() + ": " + e.what());
  }
  if (options.partition) {
    const int rank = run.spec.spatial_axes() + 2;
    if (options.partition->axes() != rank)
      throw Error(ErrorKind::kConfig, "[partition] the partition " + to_string(*options.partition) + " has " +
                                          std::to_string(options.partition->axes()) +
                                          " entries, but the run's model, " + run.spec.model_name() + ", takes " +
                                          std::to_string(rank));
    run.spec.cut = run.spec.cut.over({.partition = *options.partition});
  }
  if (options.precision) run.spec.precision = *options.precision;
  run.replicas = std::exchange(run.spec.cut.mesh.replicas, 1);
  run.step = checkpoint.state.step;
  const Graph graph = build_graph(run.spec, small_extents(run.spec), Phase::kTrain, run.spec.precision);
  require_parameters_of(graph, checkpoint.parameters);
  if (!checkpoint.averages.empty()) require_parameters_of(graph, checkpoint.averages);
  run.preparation = std::move(checkpoint.state.prepare);
  run.trained_on = TrainedOn::from_json(checkpoint.state.trained_on);
  run.weights = weights_of(checkpoint, options.weights, run.file);
  run.parameters = std::move(run.weights == kAveragedWeights ? checkpoint.averages : checkpoint.parameters);
  return run;
}

std::int64_t parameter_bytes(const Parameters& parameters) {
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : parameters) bytes += tensor.bytes();
  return bytes;
}

std::optional<std::string> weights_note(const TrainedRun& run) {
  if (run.weights.empty()) return std::nullopt;
  const std::string other = run.weights == kLastWeights ? kAveragedWeights : kLastWeights;
  return "the " + run.weights + " weights of " + run.file.string() + " are used; {weights} " + other +
         " takes the others";
}

bool is_trained_run(const fs::path& path) {
  std::error_code unseen;
  return path.extension() == ".safetensors" || fs::is_directory(path / "checkpoints", unseen);
}

std::unique_ptr<Session> prediction_session(TrainedRun& run, const Budget& budget, WorkerPool& pool,
                                            Transport* transport) {
  if (transport != nullptr) require_core_per_rank(*transport, run.spec.cut.mesh);
  const Target target{.workers = pool.workers(), .ranks = transport != nullptr ? transport->place() : Ranks()};
  auto session = std::make_unique<Session>(op_table(), lowering_of(run.spec, budget, target), pool, transport);
  const Graph graph = build_graph(run.spec, small_extents(run.spec), Phase::kPredict, run.spec.precision);
  std::erase_if(run.parameters, [&](const auto& one) { return graph.find(one.first) == kNoValue; });  // losses' heads
  session->parameters() = std::move(run.parameters);
  return session;
}

const PlanBytes* PlannedBytes::widest_turns() const {
  const PlanBytes* widest = nullptr;
  for (const auto& [extents, bytes] : fits)
    if (bytes.run.turns.file_bytes > (widest != nullptr ? widest->run.turns.file_bytes : 0)) widest = &bytes;
  return widest;
}

ProcessPlan PlannedBytes::cores(const Shape& extents) const {
  const auto found = fits.find(extents);
  if (found == fits.end()) return {};
  ProcessPlan plan = plan_of(found->second.run);
  plan[MemoryPart::kWeights] = 0;  // part of `held`
  return plan;
}

PlannedBytes planned_sizes(Session& session, const std::set<Shape>& sizes, Phase phase,
                           const PredictingProcess& process, const StopCheck& stop) {
  session.keep_plans(kept_plans_bytes(0, std::numeric_limits<std::int64_t>::max(), 0));
  PlannedBytes planned;
  std::int64_t largest = 0, all = 0, weights = 0;
  for (const Shape& extents : sizes) try {
      throw_if_stopped(stop);
      const PlanBytes bytes = session.bytes(extents, phase);
      planned.core = std::max(planned.core, bytes.run.widest_core());
      planned.host = std::max(planned.host, bytes.run.process());
      planned.fits[extents] = bytes;
      largest = std::max(largest, bytes.kept), all += bytes.kept, weights = bytes.run.parameters;
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kBudget) throw;
      const bool few = planned.refused.size() < kMostSizesSought;
      const auto fits = few ? smaller_size_that_fits(session, extents, phase) : std::nullopt;
      planned.refused.emplace(extents, fits ? advising(e, ". A size that fits: " + to_string(*fits)) : e);
    }
  const std::int64_t room = left_of(process.budget_bytes, process.base_bytes + process.beside_bytes + planned.host);
  const std::int64_t kept = kept_plans_bytes(largest, all, room);
  session.keep_plans(kept);
  planned.held = base_plan(process.base_bytes) +
                 ProcessPlan{{MemoryPart::kWeights, weights}, {MemoryPart::kPlans, std::min(all, kept)}};
  planned.held +=
      libraries_plan(resident_bytes(),
                     planned.held + ProcessPlan{{MemoryPart::kReading, process.loaded_bytes + process.beside_bytes}});
  return planned;
}

}  // namespace voxshard
