#include "pipelines/settings/tpu_settings.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace voxshard {
namespace {

constexpr const char* kTpuGroup = "TPUConfig (original names)";

struct TpuRow {
  const char* name;
  std::string TpuSettings::*text;
  const char* help;
};

constexpr std::array kTpuRows = {
    TpuRow{"num_cores_per_replica", &TpuSettings::num_cores_per_replica,
           "Cores that share a sample: 1, 2, 4 ... 128; replicas = {cores} / this"},
    TpuRow{"input_partition_dims", &TpuSettings::input_partition_dims,
           "Parts per axis of features and labels, None: on every core, product 1: on the first core only; like "
           "\"[[1, 4, 1, 1, 1], None]\", \"[{'image': [1, 4, 1, 1, 1]}, {'labels': [1, 4, 1, 1]}]\", or one list for "
           "both"},
    TpuRow{"iterations_per_loop", &TpuSettings::iterations_per_loop,
           "Steps (100) or a time (3600s, 60m, 1h) between two looks of the host: progress, validation, checkpoint; "
           "default: 1"},
    TpuRow{"per_host_input_for_training", &TpuSettings::per_host_input_for_training,
           "PER_SHARD_V1, PER_HOST_V1, PER_HOST_V2 (needed for cut samples), BROADCAST, SLICED; 1 to 5; true or false"},
    TpuRow{"num_shards", &TpuSettings::num_shards, "Check that there are this many replicas"},
    TpuRow{"eval_batch_size", &TpuSettings::eval_batch_size,
           "Samples of a batch of evaluate RUN DATA over all replicas; the validation of train goes volume by volume"},
    TpuRow{"predict_batch_size", &TpuSettings::predict_batch_size,
           "Checked as the original does; inputs are predicted one by one"}};

}  // namespace

std::vector<Setting> tpu_rows(TpuSettings& tpu) {
  std::vector<Setting> rows;
  for (const TpuRow& row : kTpuRows) {
    std::string dashed = row.name;
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    rows.push_back(
        {.name = row.name, .help = row.help, .group = kTpuGroup, .value = &(tpu.*row.text), .other_names = {dashed}});
  }
  return rows;
}

TpuConfig tpu_config(const TpuSettings& tpu, std::int64_t batch) {
  nlohmann::json given = nlohmann::json::object();
  for (const TpuRow& row : kTpuRows)
    if (!(tpu.*row.text).empty()) given[row.name] = tpu.*row.text;
  TpuConfig config = tpu_config_from_json(given);
  if (batch != 0) config.train_batch_size = batch;
  return config;
}

std::vector<Setting> estimator_rows(EstimatorSettings& estimator) {
  std::vector<Setting> rows = tpu_rows(estimator.tpu);
  rows.push_back({.name = "cores",
                  .help = "Cores of the system; a TPUConfig makes replicas of them",
                  .group = kTpuGroup,
                  .value = &estimator.options.cores,
                  .range = NumberRange{0, 4096},
                  .tells_default = false});
  return rows;
}

EstimatorOptions estimator_options(const EstimatorSettings& estimator) {
  EstimatorOptions options = estimator.options;
  options.config = tpu_config(estimator.tpu, 0);
  return options;
}

}  // namespace voxshard
