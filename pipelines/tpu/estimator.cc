#include "pipelines/tpu/estimator.h"

#include <algorithm>

#include "libcore/base/error.h"
#include "pipelines/tpu/tpu_config_model.h"

namespace voxshard {
namespace {

constexpr std::int64_t kMostCores = 4096;

/// Checks the batch of a run whose config gives no cores: its replicas must share it evenly all the same.
void check_batch_only(const TpuConfig& config, RunMode mode, std::int64_t replicas) {
  TpuConfig batches;
  batches.eval_batch_size = config.eval_batch_size, batches.predict_batch_size = config.predict_batch_size;
  check(batches, {.cores = replicas, .cores_per_host = replicas}, mode);
}

}  // namespace

void apply(const EstimatorOptions& options, RunMode mode, ModelSpec& spec) {
  Mesh& mesh = spec.cut.mesh;
  const Dims one_core = Dims::filled(mesh.partition.axes(), 1);
  if (mode == RunMode::kEvaluate && !options.eval_on_tpu) {
    spec.cut = spec.cut.over({.partition = one_core});
    return;
  }
  if (!decides_mesh(options.config)) return check_batch_only(options.config, mode, mesh.replicas);
  TpuConfig config = options.config;
  config.train_batch_size.reset();
  if (!config.input_partition_dims && !config.num_cores_per_replica && config.num_shards == options.cores)
    config.num_cores_per_replica = 1;  // each core is a replica, however the run was cut
  if (!config.input_partition_dims && config.num_cores_per_replica == 1)
    spec.cut = spec.cut.over({.replicas = mesh.replicas, .partition = one_core});
  const std::int64_t per_replica = config.num_cores_per_replica.value_or(mesh.cores_per_replica());
  if (!config.input_partition_dims) config.num_cores_per_replica = per_replica;
  if (options.cores < 0 || options.cores > kMostCores)
    throw Error(ErrorKind::kConfig, "[config] {cores} is " + std::to_string(options.cores) + "; expected at most " +
                                        std::to_string(kMostCores));
  const auto counted = [](std::int64_t number) { return std::clamp<std::int64_t>(number, 1, kMostCores); };
  const std::int64_t needed = counted(per_replica) * counted(config.num_shards.value_or(mesh.replicas));
  const SystemCores system{.cores = options.cores > 0 ? options.cores : needed};
  check(config, system, mode);
  ModelSpec over = spec;  // a config without dims keeps the run's cut, with its cores per replica
  apply(config, system, one_core, over);
  spec.cut = std::move(over.cut);
  if (mode == RunMode::kPredict) mesh.replicas = 1;
}

}  // namespace voxshard
