// Resizes label maps to another number of samples over the same extent: each label is a mask that is interpolated
// linearly, as nnU-Net's resize_segmentation(order=1) does, here without a mask per label in memory.
//
//   Tensor prepared = resize_labels(labels, {20, 64, 64}, std::nullopt, LabelRule::kHalf);
#pragma once

#include <optional>

#include "libcore/tensor/tensor.h"

namespace voxshard {

enum class LabelRule {
  kHalf,     // the highest label whose mask reaches 0.5; 0 where none does, as nnU-Net resizes reference labels
  kLargest,  // the label of the largest mask, the lower one of equal masks: every voxel keeps a label beside it
};

/// Resizes labels with half-pixel centres; beyond the border the edge voxel counts.
///   labels  (D, H, W) i32, no extent 0
///   slices  an axis along which the nearest slice is taken
/// Source: batchgenerators, augmentations/utils.py, resize_segmentation; SciPy 1.10, whose order of operations is kept
/// so that ties at 0.5 fall alike.
Tensor resize_labels(const Tensor& labels, const Shape& shape, std::optional<int> slices, LabelRule rule);

}  // namespace voxshard
