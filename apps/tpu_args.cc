#include "apps/tpu_args.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace voxshard {
namespace {

struct Row {
  const char* name;
  std::string TpuArgs::*text;
  const char* help;
};

constexpr std::array kRows = {
    Row{"num_cores_per_replica", &TpuArgs::num_cores_per_replica,
        "Cores that share a sample: 1, 2, 4 ... 128; replicas = --cores / this"},
    Row{"input_partition_dims", &TpuArgs::input_partition_dims,
        "Parts per axis of features and labels, None: on every core, product 1: on the first core only; like "
        "\"[[1, 4, 1, 1, 1], None]\", \"[{'image': [1, 4, 1, 1, 1]}, {'labels': [1, 4, 1, 1]}]\", or one list for "
        "both"},
    Row{"iterations_per_loop", &TpuArgs::iterations_per_loop,
        "Steps (100) or a time (3600s, 60m, 1h) between two looks of the host: progress, validation, checkpoint; "
        "default: 1"},
    Row{"per_host_input_for_training", &TpuArgs::per_host_input_for_training,
        "PER_SHARD_V1, PER_HOST_V1, PER_HOST_V2 (needed for cut samples), BROADCAST, SLICED; 1 to 5; true or false"},
    Row{"num_shards", &TpuArgs::num_shards, "Check that there are this many replicas"},
    Row{"eval_batch_size", &TpuArgs::eval_batch_size,
        "Samples of a batch of evaluate RUN DATA over all replicas; the validation of train goes volume by volume"},
    Row{"predict_batch_size", &TpuArgs::predict_batch_size,
        "Checked as the original does; inputs are predicted one by one"}};

}  // namespace

void add_tpu_options(CLI::App& app, TpuArgs& args) {
  for (const Row& row : kRows) {
    const std::string name = row.name;
    std::string dashed = name;
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    app.add_option("--" + name + ",--" + dashed, args.*row.text, row.help)->group("TPUConfig (original names)");
  }
}

TpuConfig tpu_config(const TpuArgs& args, std::int64_t batch) {
  nlohmann::json given = nlohmann::json::object();
  for (const Row& row : kRows)
    if (!(args.*row.text).empty()) given[row.name] = args.*row.text;
  TpuConfig config = tpu_config_from_json(given);
  if (batch != 0) config.train_batch_size = batch;
  return config;
}

void add_estimator_options(CLI::App& app, EstimatorArgs& args) {
  add_tpu_options(app, args.tpu);
  app.add_option("--cores", args.options.cores, "Cores of the system; a TPUConfig makes replicas of them")
      ->check(CLI::Range(0, 4096))
      ->group("TPUConfig (original names)");
}

EstimatorOptions estimator_options(const EstimatorArgs& args) {
  EstimatorOptions options = args.options;
  options.config = tpu_config(args.tpu, 0);
  return options;
}

}  // namespace voxshard
