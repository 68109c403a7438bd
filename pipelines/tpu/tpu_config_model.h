// Translates a TPUConfig to a mesh: the dims of the image become the mesh's partition, cores / cores per replica its
// replicas, and dims of the labels that differ from that the placement of an input.
//
//   ModelSpec spec;
//   apply(config, {.cores = 8}, {4, 64, 64, 64, 1}, spec);   // [[1, 4, 1, 1, 1], None] -> 2 replicas of 1x4x1x1x1
#pragma once

#include "pipelines/model_runs/model_spec.h"
#include "pipelines/tpu/tpu_config.h"

namespace voxshard {

/// Returns true when the config gives the cut of samples or the number of replicas, so that apply() decides the mesh.
bool decides_mesh(const TpuConfig& config);

/// Sets `spec.cut.mesh.partition`, `spec.cut.mesh.replicas` and `spec.cut.inputs`. The tensors are the feature "image"
/// and the label "labels"; dims for the labels may have the channel axis or, as index labels do, lack it. A config
/// without input_partition_dims keeps the partition of `spec`. A detector's "labels" are the targets of all its levels:
/// None puts them whole on every core, the dims of the image cut the levels that they divide.
///   image  (N, spatial axes, C) the batch of one replica
/// Errors: those of check and resolve; kConfig for a cut channel axis, for several cores per replica without a cut, for
/// a detector's labels with another cut than its image.
void apply(const TpuConfig& config, const SystemCores& system, const Shape& image, ModelSpec& spec);

}  // namespace voxshard
