// TPUConfig, the interface with which Cloud TPU users partition a sample over cores: the number of cores per replica
// and the cut of each input tensor. Names and meanings are the original's; its conditions are checked in its order.
//
//   TpuConfig config = tpu_config_from_json({{"num_cores_per_replica", 4},
//                                            {"input_partition_dims", "[{'image': [1, 4, 1, 1, 1]}, None]"}});
//   check(config, {.cores = 8});                                                     // 2 replicas of 4 cores
//   resolve(config, {.cores = 8}, {{"image", {2, 64, 64, 64, 1}}}, {{"labels", {2, 64, 64, 64}}});
//
// Read by settings/tpu_settings.h from settings; tpu_config_model.h makes a ModelSpec of it.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "libcore/partition/layout.h"
#include "pipelines/tpu/tpu_config_loop.h"

namespace voxshard {

/// The caller of the input pipeline: each core, each host once, each host once per replica (with model parallelism: the
/// host of logical core 0, for the whole sample), or one for all. Numbers as in tf.estimator.tpu.InputPipelineConfig.
enum class InputMode { kPerShardV1 = 1, kPerHostV1 = 2, kPerHostV2 = 3, kBroadcast = 4, kSliced = 5 };
const char* input_mode_name(InputMode mode);  // "PER_HOST_V2"

/// The cut of one tensor: parts per axis, or None.
using TensorDims = std::optional<std::vector<std::int64_t>>;
/// Cuts by the path of a tensor in its structure: "" for a structure of one tensor, "boxes/3" for {"boxes": {3: ...}}.
using DimsByPath = std::map<std::string, TensorDims>;

struct InputPartitionDims {
  std::vector<std::optional<DimsByPath>> elements;  // features, then labels; nullopt: None as a whole
  /// The form of the reference models' yaml files, one list [1, 16, 1, 1, 1] for features and labels alike: a tensor
  /// takes as many of its entries as it has axes, and num_cores_per_replica is their product.
  bool one_list = false;
};

struct TpuConfig {
  IterationsPerLoop iterations_per_loop;              // unset: host work after every step (the original: every 2)
  std::optional<std::int64_t> num_shards;             // number of replicas
  std::optional<std::int64_t> num_cores_per_replica;  // unset: 1
  std::optional<InputPartitionDims> input_partition_dims;
  std::optional<InputMode> per_host_input_for_training;
  std::optional<std::int64_t> train_batch_size, eval_batch_size, predict_batch_size;  // over all replicas

  std::int64_t cores_per_replica() const { return num_cores_per_replica.value_or(1); }
  /// Returns the mode that was set; else PER_HOST_V2 for a sample that is cut (no other mode can feed it) and
  /// PER_HOST_V1 otherwise. (The original's default is always PER_HOST_V1, which it then refuses.)
  InputMode input_mode() const;
};

/// The cores that a job gets: `--cores`, or the slice of a device. A host of TPU v2 and v3 has 4 chips of 2 cores.
struct SystemCores {
  std::int64_t cores = 1;
  std::int64_t cores_per_host = 8;
  std::int64_t hosts() const { return ceil_div(cores, cores_per_host); }
};

enum class RunMode { kTrain, kEvaluate, kPredict };

/// The fields of TPUConfig and the batch sizes: keys of tpu_config_from_json() and of the section tpu_config.
const std::vector<std::string>& tpu_config_keys();

/// Parses an object with the original's keys; null and "None" mean unset. input_partition_dims may be text in Python
/// syntax, iterations_per_loop a number or a text, per_host_input_for_training a name, 1 to 5, true
/// (PER_HOST_V1) or false (PER_SHARD_V1). Errors: kConfig for another key (names the nearest one), and for a value of
/// the wrong type; when input_partition_dims has a bracket too few or too many, the message ends with the corrected
/// text.
TpuConfig tpu_config_from_json(const nlohmann::json& json);
nlohmann::ordered_json to_json(const TpuConfig& config);

/// Parses the value of input_partition_dims; nullopt for null, "" and "None". Errors: see tpu_config_from_json.
std::optional<InputPartitionDims> input_partition_dims_from_json(const nlohmann::json& value);
/// Returns true when the value is a list that can be parsed and has dims for the features, or for features and labels.
bool is_input_partition_dims(const nlohmann::json& value);

/// Checks the conditions that need no tensors: those of the original's constructor, then those on the system.
/// Errors: kConfig naming key, value and what would be right.
void check(const TpuConfig& config, const SystemCores& system, RunMode mode = RunMode::kTrain);

struct ResolvedInputs {
  std::int64_t replicas = 1;
  std::int64_t cores_per_replica = 1;
  std::map<std::string, InputPlacement> features, labels;  // by path; `grid` as written
};

/// Returns the placement of each tensor, by the original's rules in its order. Without input_partition_dims every
/// tensor goes to the first core of its replica.
///   features, labels  shapes of what one replica reads, by path; an extent below 0 is not known
/// Errors: those of check; kConfig for keys that do not match, entries below 1, a product that is not
/// num_cores_per_replica, another number of axes, an unknown extent. A product of 1 is accepted at any length.
ResolvedInputs resolve(const TpuConfig& config, const SystemCores& system, const std::map<std::string, Shape>& features,
                       const std::map<std::string, Shape>& labels);

}  // namespace voxshard
