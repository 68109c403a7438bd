// The voxels of one class in one label map: a dense grid of bytes, cut to the box in which the class occurs, so that
// what follows takes time and memory for the organ and not for the body.
//
//   const std::vector<Box> boxes = class_boxes(prediction, reference, 8);
//   const Mask liver = class_mask(prediction, boxes[1], 1);
//   liver.at[liver.index(0, 0, 0)];                            // 1 where the label is 1, else 0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "libcore/metrics/label_set.h"
#include "libcore/tensor/tensor.h"

namespace voxshard {

/// Voxels along D, H, W, and the distance of their centres along the same axes, in mm.
using GridSize = std::array<std::int64_t, 3>;
using GridSpacing = std::array<double, 3>;

struct Mask {
  GridSize size{};
  std::vector<std::uint8_t> at;  // (D, H, W); 0: outside

  std::int64_t index(std::int64_t d, std::int64_t h, std::int64_t w) const { return (d * size[1] + h) * size[2] + w; }
  /// The value at a position that may lie outside of the grid, where it is 0.
  std::uint8_t value(std::int64_t d, std::int64_t h, std::int64_t w) const;
  bool empty() const;
};

/// A mask of this size without a voxel.
Mask empty_mask(const GridSize& size);

/// Returns for each class 0 .. classes - 1 the smallest box that holds its voxels of both label maps; an empty box for
/// a class that is in neither.
///   prediction, reference  (D, H, W) i32 or u8 of equal extents, dense; their coordinates count from 0
///   ignored                voxels whose reference has this label belong to no class; -1: none
/// Errors: kInternal for other views.
std::vector<Box> class_boxes(const TensorView& prediction, const TensorView& reference, int classes,
                             std::int64_t ignored = -1);

/// Returns the smallest box that holds all of `boxes`; an empty box when they are all empty.
Box box_around(const std::vector<Box>& boxes);

/// Returns the voxels of `labels` in `box` that have a label of the set, as 1. Voxels where `reference` has the label
/// `ignored` are 0: a border of the ignored area is then a border of the class.
Mask class_mask(const TensorView& labels, const Box& box, const LabelSet& of, const TensorView& reference,
                std::int64_t ignored = -1);

}  // namespace voxshard
