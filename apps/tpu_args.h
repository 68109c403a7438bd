// The options of TPUConfig under their original names, in a help group of their own; shared by the commands that cut a
// model. Each name is also taken with - for _.
//
//   add_tpu_options(app, args.tpu);                       // --num_cores_per_replica 4 --input_partition_dims "[[1, 4,
//   1, 1, 1], None]" TpuConfig config = tpu_config(args.tpu, batch);
#pragma once

#include <string>

#include "pipelines/tpu/estimator.h"

namespace CLI {
class App;
}

namespace voxshard {

struct TpuArgs {  // as written; empty: not given
  std::string num_cores_per_replica, input_partition_dims, iterations_per_loop, per_host_input_for_training, num_shards;
  std::string eval_batch_size, predict_batch_size;
};

/// The names of the batch of a step, for add_option: its own and the original's.
inline constexpr const char* kBatchNames = "--batch,--train_batch_size,--train-batch-size";

void add_tpu_options(CLI::App& app, TpuArgs& args);
/// The config, `batch` being its train_batch_size; 0: none, nobody trains. Errors: kConfig for what cannot be read.
TpuConfig tpu_config(const TpuArgs& args, std::int64_t batch);

/// What evaluate and predict take of the original: TPUConfig, and the cores of the system.
struct EstimatorArgs {
  TpuArgs tpu;
  EstimatorOptions options;
};
void add_estimator_options(CLI::App& app, EstimatorArgs& args);
EstimatorOptions estimator_options(const EstimatorArgs& args);

}  // namespace voxshard
