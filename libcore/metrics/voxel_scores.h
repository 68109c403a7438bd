// Scores of logits against index labels voxel by voxel, as the reference U-Net's metric_fn computes them
// (tensorflow/tpu, models/official/unet3d/unet_model.py): accuracy and categorical cross-entropy. Counts add over the
// boxes of a cut volume, so every core's box may be counted on its own.
//
//   VoxelScores scores = voxel_scores(logits, labels);
//   scores.accuracy();              // NaN when no voxel counts
#pragma once

#include <cstdint>

#include "libcore/tensor/tensor.h"

namespace voxshard {

struct VoxelScores {
  std::int64_t voxels = 0, correct = 0;
  double cross_entropy = 0;  // sum of -log p of the voxel's label, p clipped as Keras does to 1e-7 .. 1 - 1e-7

  double accuracy() const;
  double mean_cross_entropy() const;
  VoxelScores& operator+=(const VoxelScores& other) {
    voxels += other.voxels, correct += other.correct, cross_entropy += other.cross_entropy;
    return *this;
  }
};

/// Counts the voxels; a voxel's predicted class is that of its largest logit, ties go to the lower class.
///   logits  (N, spatial axes, C) f32, 2 or 3 spatial axes
///   labels  (N, spatial axes, 1) i32, the same extents; voxels with a label outside 0 .. C - 1 are not counted
VoxelScores voxel_scores(const TensorView& logits, const TensorView& labels);

}  // namespace voxshard
