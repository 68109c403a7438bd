#include "pipelines/runs/trained_run.h"

#include "libcore/base/text.h"
#include "libcore/ops/op_table.h"
#include "libcore/train/initialise.h"
#include "pipelines/runs/checkpoint.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

fs::path find_checkpoint(const TrainedRunOptions& options) {
  if (options.run.extension() == ".safetensors") return options.run;
  const fs::path folder = options.run / "checkpoints";
  const fs::path best = folder / "best.safetensors", last = folder / "last.safetensors";
  if (options.checkpoint == "best") return best;
  if (options.checkpoint == "last") return last;
  if (options.checkpoint != "auto")
    throw Error(ErrorKind::kUsage,
                "[predict] {checkpoint} is \"" + options.checkpoint + "\"; expected best, last or auto");
  return fs::exists(best) ? best : last;
}

/// Extents that every model has a graph for.
Shape small_extents(const ModelSpec& spec) {
  Shape extents{1};
  for (int a = 0; a < spec.spatial_axes(); ++a) extents.push_back(16);
  return extents;
}

}  // namespace

TrainedRun load_trained_run(const TrainedRunOptions& options) {
  TrainedRun run{.file = find_checkpoint(options)};
  Checkpoint checkpoint = load_checkpoint(run.file);
  try {
    run.spec = model_spec_from_json(checkpoint.state.model);
  } catch (const Error& e) {
    throw Error(ErrorKind::kCheckpoint, run.file.string() + ": " + e.what());
  }
  if (options.partition) {
    const int rank = run.spec.spatial_axes() + 2;
    if (options.partition->rank() != rank)
      throw Error(ErrorKind::kConfig, "[partition] the partition " + to_string(*options.partition) + " has " +
                                          std::to_string(options.partition->rank()) +
                                          " entries, but the run's model, " + run.spec.model_name() + ", takes " +
                                          std::to_string(rank));
    run.spec.cut = run.spec.cut.over({.partition = *options.partition});
  }
  if (options.precision) run.spec.precision = *options.precision;
  run.spec.cut.mesh.replicas = 1;
  require_parameters_of(build_graph(run.spec, small_extents(run.spec), Phase::kTrain, run.spec.precision),
                        checkpoint.parameters);
  run.preparation = std::move(checkpoint.state.prepare);
  run.parameters = std::move(checkpoint.parameters);
  return run;
}

std::unique_ptr<Session> prediction_session(TrainedRun& run, const Budget& budget, WorkerPool& pool) {
  auto session = std::make_unique<Session>(op_table(), lowering_of(run.spec, budget, {.workers = pool.workers()}), pool);
  session->parameters() = std::move(run.parameters);
  return session;
}

PlannedBytes plan_predictions(Session& session, const std::set<Shape>& sizes, const std::string& inputs, Progress& progress) {
  PlannedBytes planned;
  for (const Shape& extents : sizes) {
    throw_if_stopped(progress);
    const Executable& executable = session.plan(extents, Phase::kPredict);
    planned.core = std::max(planned.core, executable.bytes.widest_core());
    planned.host = std::max(planned.host, executable.bytes.process());
  }
  progress.log("planned: " + bytes_text(planned.core) + " per core, " + bytes_text(planned.host) +
               " in this process for the largest of " + inputs);
  return planned;
}

}  // namespace voxshard
