#include "pipelines/tpu/tpu_config_model.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "pipelines/tpu/level_labels.h"

namespace voxshard {
namespace {

using Kind = InputPlacement::Kind;

Shape without_channels(const Shape& image) {
  Shape shape;
  for (int a = 0; a + 1 < image.axes(); ++a) shape.push_back(image[a]);
  return shape;
}

/// Returns the shape of the labels for the config: with a channel axis when its dims for them have as many entries as
/// the image's.
Shape label_shape(const TpuConfig& config, const Shape& image) {
  Shape labels = without_channels(image);
  if (!config.input_partition_dims || config.input_partition_dims->elements.size() < 2) return labels;
  if (const auto& element = config.input_partition_dims->elements[1])
    for (const auto& [path, dims] : *element)
      if (dims && static_cast<int>(dims->size()) == image.axes()) {
        labels.push_back(1);
        break;
      }
  return labels;
}

/// Returns the placement over all axes of the engine's tensors, channels last.
InputPlacement with_channels(InputPlacement placement, int rank, const char* name) {
  if (placement.kind != Kind::kCut) return placement;
  if (placement.grid.axes() < rank) placement.grid.push_back(1);
  if (placement.grid.back() != 1)
    throw Error(ErrorKind::kConfig, std::string("[tpu_config] input_partition_dims cuts the channel axis of \"") +
                                        name + "\" in " + std::to_string(placement.grid.back()) +
                                        "; channels are never cut here: make the last entry 1 and cut another axis");
  return placement;
}

/// Returns a partition that places a replica's cores side by side along the first spatial axis.
Dims in_a_row(std::int64_t cores, int rank) {
  Dims partition = Dims::filled(rank, 1);
  partition[1] = cores;
  return partition;
}

void apply_without_dims(const TpuConfig& config, const SystemCores& system, ModelSpec& spec) {
  const std::int64_t cut = element_count(spec.cut.mesh.partition), wanted = config.cores_per_replica();
  if (config.num_cores_per_replica && cut != wanted)
    throw Error(ErrorKind::kConfig, "[tpu_config] num_cores_per_replica is " + std::to_string(wanted) +
                                        ", but the samples are cut over " + std::to_string(cut) +
                                        "; say how with input_partition_dims (or {partition}), for example [[1, " +
                                        std::to_string(wanted) + ", 1, 1, 1], None]");
  spec.cut.mesh.replicas = system.cores / cut;
}

/// Returns the placements of a model's targets, which the config treats as one tensor.
std::vector<PlacedInput> target_placements(const Model& model, const InputPlacement& labels, const Dims& partition) {
  if (labels.kind != Kind::kCut) return placed_targets(model, labels);
  if (labels.grid != partition)
    throw Error(ErrorKind::kConfig, "[tpu_config] input_partition_dims cuts the labels " + to_string(labels.grid) +
                                        " and the image " + to_string(partition) +
                                        "; a detector's labels are cut as its image or, with None, not at all");
  return placed_targets(model, {.kind = Kind::kWhereDivisible});
}

}  // namespace

bool decides_mesh(const TpuConfig& config) {
  return config.input_partition_dims || config.num_cores_per_replica || config.num_shards;
}

void apply(const TpuConfig& config, const SystemCores& system, const Shape& image, ModelSpec& spec) {
  const int rank = image.axes();
  TpuConfig whole = config;
  if (!config.input_partition_dims) {
    if (!config.num_cores_per_replica) whole.num_cores_per_replica = element_count(spec.cut.mesh.partition);
    check(whole, system);
    return apply_without_dims(whole, system, spec);
  }
  const bool by_level = !spec.model->targets.empty() && names_levels(config);
  if (by_level) whole.input_partition_dims->elements[1].reset();  // they are placed below
  const ResolvedInputs resolved = resolve(whole, system, {{"image", image}}, {{"labels", label_shape(whole, image)}});
  const InputPlacement features = with_channels(resolved.features.at("image"), rank, "image");
  const InputPlacement labels = with_channels(resolved.labels.at("labels"), rank, "labels");
  spec.cut.mesh.replicas = resolved.replicas;
  spec.cut.inputs = placed_targets(*spec.model, {.kind = Kind::kWhereDivisible});
  spec.cut.mesh.partition = Dims::filled(rank, 1);
  if (resolved.cores_per_replica == 1) return;  // whole on the one core, whatever the config calls it
  spec.cut.mesh.partition = features.kind == Kind::kCut ? features.grid
                            : labels.kind == Kind::kCut ? labels.grid
                                                        : in_a_row(resolved.cores_per_replica, rank);
  const auto place = [&](const char* name, const InputPlacement& placement) {
    if (placement.kind != Kind::kCut || placement.grid != spec.cut.mesh.partition)
      spec.cut.inputs.push_back({name, placement});
  };
  if (by_level)
    spec.cut.inputs = level_placements(config, spec.model->targets, spec.cut.mesh.partition);
  else if (spec.model->targets.empty())
    place("labels", labels);
  else
    spec.cut.inputs = target_placements(*spec.model, labels, spec.cut.mesh.partition);
  place("image", features);
}

}  // namespace voxshard
