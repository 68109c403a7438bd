// The conditions of TPUConfig, in the original's order: its constructor (tensorflow_estimator tpu_config.py), the
// system (tpu_context.py, tpu_estimator.py), the structure of the inputs, each tensor (tpu_feed.py). The messages are
// our own.
#include <algorithm>
#include <array>

#include "libcore/base/error.h"
#include "libcore/base/text.h"
#include "pipelines/tpu/tpu_config.h"

namespace voxshard {
namespace {

constexpr std::array<std::int64_t, 8> kCoreCounts = {1, 2, 4, 8, 16, 32, 64, 128};

std::string text_of(std::int64_t number) { return std::to_string(number); }

void require(bool ok, const std::string& text) {
  if (!ok) throw Error(ErrorKind::kConfig, "[tpu_config] " + text);
}

std::string text_of(const std::vector<std::int64_t>& dims) {
  return "[" + joined(dims, ", ", [](std::int64_t parts) { return text_of(parts); }) + "]";
}

void check_constructor(const TpuConfig& c) {
  const IterationsPerLoop& loop = c.iterations_per_loop;
  require(loop.steps >= 0 && loop.duration_s >= 0 && loop.steps + loop.duration_s > 0,
          "iterations_per_loop is " + to_text(loop) + "; expected a positive number of steps or a time like 60m");
  require(!c.num_shards || *c.num_shards > 0,
          "num_shards is " + text_of(c.num_shards.value_or(0)) +
              "; expected a positive number: the replicas, cores / num_cores_per_replica");
  if (c.input_partition_dims) {
    const std::size_t count = c.input_partition_dims->elements.size();
    require(count == 1 || count == 2,
            "input_partition_dims has " + std::to_string(count) +
                " elements; expected one for the features and, where the labels are cut too, one for the labels: "
                "[[1, 4, 1, 1], None]");
    require(c.input_mode() == InputMode::kPerHostV2, std::string("per_host_input_for_training is ") +
                                                         input_mode_name(c.input_mode()) +
                                                         ", but input_partition_dims is given, and only PER_HOST_V2 "
                                                         "can feed a sample that is cut; set it to PER_HOST_V2");
    require(c.num_cores_per_replica.has_value() || c.input_partition_dims->one_list,
            "input_partition_dims is given, but num_cores_per_replica is not; set it to the product of the dims");
  }
  if (!c.num_cores_per_replica) return;
  require(std::find(kCoreCounts.begin(), kCoreCounts.end(), *c.num_cores_per_replica) != kCoreCounts.end(),
          "num_cores_per_replica is " + text_of(*c.num_cores_per_replica) +
              "; a replica can have 1, 2, 4, 8, 16, 32, 64 or 128 cores");
}

void check_batch(const char* key, const std::optional<std::int64_t>& batch, std::int64_t replicas) {
  if (!batch) return;
  const std::int64_t up = std::max<std::int64_t>(1, ceil_div(*batch, replicas)) * replicas;
  require(*batch > 0 && *batch % replicas == 0,
          std::string(key) + " is " + text_of(*batch) + ", which " + text_of(replicas) +
              " replicas cannot share evenly; use a multiple of " + text_of(replicas) + ", such as " + text_of(up));
}

void check_system(const TpuConfig& c, const SystemCores& system, RunMode mode) {
  const std::int64_t per_replica = c.cores_per_replica();
  require(system.cores >= 1, "the system has " + text_of(system.cores) + " cores; expected at least 1");
  require(per_replica <= system.cores, "num_cores_per_replica is " + text_of(per_replica) +
                                           ", but the system has only " + text_of(system.cores) +
                                           " cores; use more cores or a smaller replica");
  require(system.cores % per_replica == 0,
          "the " + text_of(system.cores) + " cores of the system cannot be shared out in replicas of " +
              text_of(per_replica) + " (num_cores_per_replica); use a multiple of " + text_of(per_replica) + " cores");
  const std::int64_t replicas = system.cores / per_replica;
  require(!c.num_shards || *c.num_shards == replicas,
          "num_shards is " + text_of(c.num_shards.value_or(0)) + ", but " + text_of(system.cores) +
              " cores in replicas of " + text_of(per_replica) + " make " + text_of(replicas) + "; set num_shards to " +
              text_of(replicas) + " or leave it out");
  if (mode == RunMode::kTrain) check_batch("train_batch_size", c.train_batch_size, replicas);
  if (mode == RunMode::kEvaluate) check_batch("eval_batch_size", c.eval_batch_size, replicas);
  if (mode == RunMode::kPredict) check_batch("predict_batch_size", c.predict_batch_size, replicas);
  const std::string input_is = std::string("per_host_input_for_training is ") + input_mode_name(c.input_mode());
  require(per_replica == 1 || c.input_mode() != InputMode::kPerShardV1,
          input_is + ", which feeds each core on its own, but num_cores_per_replica is " + text_of(per_replica) +
              "; a replica of several cores needs PER_HOST_V2");
  require(per_replica <= system.cores_per_host || c.input_mode() == InputMode::kPerHostV2,
          input_is + ", but num_cores_per_replica is " + text_of(per_replica) + " and a host has " +
              text_of(system.cores_per_host) + " cores; only PER_HOST_V2 feeds a replica that spans hosts");
  require(mode != RunMode::kEvaluate || system.hosts() == 1 || c.input_mode() == InputMode::kBroadcast ||
              c.input_mode() == InputMode::kPerHostV2,
          input_is + " with " + text_of(system.hosts()) +
              " hosts; evaluation needs one host, or BROADCAST, or PER_HOST_V2");
  if (mode != RunMode::kPredict) return;
  require(system.hosts() == 1 || c.input_mode() == InputMode::kBroadcast ||
              (c.input_mode() == InputMode::kPerHostV2 && replicas == 1),
          input_is + " with " + text_of(system.hosts()) + " hosts and " + text_of(replicas) +
              " replicas; predictions need one host, or BROADCAST, or PER_HOST_V2 with one replica of all cores");
}

std::string names_of(const auto& tensors) {
  return tensors.empty() ? "none" : joined(tensors, ", ", [](const auto& named) { return named.first; });
}

/// Returns true when an entry's path is a parent of a tensor's path, or the other way round.
bool differs_in_depth(const DimsByPath& written, const std::map<std::string, Shape>& tensors) {
  for (const auto& [path, dims] : written)
    for (const auto& [name, shape] : tensors)
      if (name.starts_with(path + "/") || path.starts_with(name + "/")) return true;
  return false;
}

/// Returns the written dims by the names of the tensors. `place` is "input_partition_dims[0] (features)".
DimsByPath matched(const DimsByPath& written, const std::map<std::string, Shape>& tensors, const std::string& place) {
  const bool one_tensor = written.size() == 1 && written.begin()->first.empty();
  if (one_tensor) {
    require(tensors.size() == 1, place + " is " +
                                     (written.begin()->second ? text_of(*written.begin()->second) : "None") +
                                     ", which is for one tensor, but there are " + std::to_string(tensors.size()) +
                                     ": " + names_of(tensors) + "; give each its entry by name");
    return {{tensors.begin()->first, written.begin()->second}};
  }
  require(!differs_in_depth(written, tensors), place + " is nested otherwise than the tensors: it has entries for " +
                                                   names_of(written) + ", the tensors are " + names_of(tensors) +
                                                   "; give each tensor its own entry");
  const bool same =
      written.size() == tensors.size() && std::equal(written.begin(), written.end(), tensors.begin(),
                                                     [](const auto& a, const auto& b) { return a.first == b.first; });
  require(same, place + " has entries for " + names_of(written) + ", but the tensors are " + names_of(tensors) +
                    "; the names must be the same (None for a tensor that is not cut)");
  return written;
}

InputPlacement placement_of(const TensorDims& dims, const Shape& shape, const std::string& place,
                            std::int64_t per_replica) {
  using Kind = InputPlacement::Kind;
  if (!dims) return {.kind = Kind::kReplicated};
  const std::string entry = place + " is " + text_of(*dims);
  for (auto parts : *dims)
    require(parts >= 1, entry + ", which has the entry " + text_of(parts) + "; every entry must be at least 1");
  std::int64_t product = 1;
  for (auto parts : *dims)
    product = parts > (std::int64_t{1} << 40) / product ? std::int64_t{1} << 40 : product * parts;
  if (product == 1) return {.kind = Kind::kFirstCore};
  require(product == per_replica, entry + ", whose product is " + text_of(product) + ", but num_cores_per_replica is " +
                                      text_of(per_replica) +
                                      "; make them equal, or write None to replicate the tensor");
  require(static_cast<int>(dims->size()) == shape.axes(),
          entry + ", which has " + std::to_string(dims->size()) + " entries, but the tensor " + to_string(shape) +
              " has " + std::to_string(shape.axes()) + " axes; write one entry per axis, batch and channels included");
  for (auto extent : shape)
    require(extent >= 0, entry + ", but the shape " + to_string(shape) +
                             " of the tensor is not known in full; a tensor that is cut needs every extent");
  InputPlacement placement;
  for (auto parts : *dims) placement.grid.push_back(parts);
  return placement;
}

/// Returns the first `rank` entries of the one list, for a tensor with this number of axes.
TensorDims first_entries(const TensorDims& list, int rank) {
  TensorDims dims = list;
  if (dims->size() > static_cast<std::size_t>(rank)) dims->resize(static_cast<std::size_t>(rank));
  return dims;
}

std::map<std::string, InputPlacement> placements(const TpuConfig& c, std::size_t which,
                                                 const std::map<std::string, Shape>& tensors) {
  std::map<std::string, InputPlacement> placed;
  if (!c.input_partition_dims) {
    for (const auto& [name, shape] : tensors) placed[name] = {.kind = InputPlacement::Kind::kFirstCore};
    return placed;
  }
  const InputPartitionDims& all = *c.input_partition_dims;
  const std::string place =
      "input_partition_dims[" + std::to_string(which) + "] (" + (which == 0 ? "features" : "labels") + ")";
  DimsByPath dims;
  if (all.one_list) {
    for (const auto& [name, shape] : tensors) dims[name] = first_entries(all.elements.front()->at(""), shape.axes());
  } else if (which >= all.elements.size() || !all.elements[which]) {
    require(which != 0,
            place + " is None; name how at least one feature tensor is cut, or leave input_partition_dims out");
    for (const auto& [name, shape] : tensors) dims[name] = std::nullopt;
  } else {
    dims = matched(*all.elements[which], tensors, place);
  }
  for (const auto& [name, entry] : dims)
    placed[name] = placement_of(entry, tensors.at(name), place + " of \"" + name + "\"", c.cores_per_replica());
  return placed;
}

}  // namespace

void check(const TpuConfig& config, const SystemCores& system, RunMode mode) {
  check_constructor(config);
  check_system(config, system, mode);
}

ResolvedInputs resolve(const TpuConfig& config, const SystemCores& system, const std::map<std::string, Shape>& features,
                       const std::map<std::string, Shape>& labels) {
  check(config, system);
  return {.replicas = system.cores / config.cores_per_replica(),
          .cores_per_replica = config.cores_per_replica(),
          .features = placements(config, 0, features),
          .labels = placements(config, 1, labels)};
}

}  // namespace voxshard
