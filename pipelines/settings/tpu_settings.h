// The fields of TPUConfig under their original names, as settings of the commands that partition a model. Each name is
// also accepted with - for _.
//
//   settings.add(tpu_rows(tpu));                    // num_cores_per_replica = 4, input_partition_dims = "[[1, 4, 1, 1,
//   1], None]" TpuConfig config = tpu_config(tpu, batch);
#pragma once

#include "pipelines/settings/setting.h"
#include "pipelines/tpu/estimator.h"

namespace voxshard {

struct TpuSettings {  // as written; empty: not given
  std::string num_cores_per_replica, input_partition_dims, iterations_per_loop, per_host_input_for_training, num_shards;
  std::string eval_batch_size, predict_batch_size;
};

std::vector<Setting> tpu_rows(TpuSettings& tpu);
/// Returns the config. `batch`: its train_batch_size; 0: not set, the command does not train. Errors: kConfig for a
/// value that cannot be parsed.
TpuConfig tpu_config(const TpuSettings& tpu, std::int64_t batch);

/// The settings of the original that evaluate and predict accept: TPUConfig, and the cores of the system.
struct EstimatorSettings {
  TpuSettings tpu;
  EstimatorOptions options;
};
std::vector<Setting> estimator_rows(EstimatorSettings& estimator);
EstimatorOptions estimator_options(const EstimatorSettings& estimator);

}  // namespace voxshard
