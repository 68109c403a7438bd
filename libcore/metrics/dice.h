// Overlap of two label maps: voxel counts per class, and Dice and IoU from them. Counts add over the boxes of a cut
// volume, so every core may count its own box.
//
//   std::vector<ClassCounts> counts = count_classes(prediction, reference, 8);
//   double d = dice(counts[1]);     // NaN when class 1 is in neither
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/metrics/label_set.h"
#include "libcore/tensor/tensor.h"

namespace voxshard {

struct ClassCounts {
  std::int64_t tp = 0, fp = 0, fn = 0, tn = 0;  // voxels

  ClassCounts& operator+=(const ClassCounts& other) {
    tp += other.tp, fp += other.fp, fn += other.fn, tn += other.tn;
    return *this;
  }
  friend bool operator==(const ClassCounts&, const ClassCounts&) = default;
};

/// Returns counts for classes 0 .. classes - 1. Values outside that range belong to no class, as in nnU-Net. Voxels
/// whose reference is `ignored` count nowhere; -1: none.
///   prediction, reference  i32 or u8, equal extents, any strides; their box.begin does not matter
/// Errors: kInput when the extents differ.
std::vector<ClassCounts> count_classes(const TensorView& prediction, const TensorView& reference, int classes,
                                       std::int64_t ignored = -1);

/// The same of a region: two labels of the set are equal.
ClassCounts count_region(const TensorView& prediction, const TensorView& reference, const LabelSet& region,
                         std::int64_t ignored = -1);

/// 2 TP / (2 TP + FP + FN); NaN when both are empty (nnU-Net's rule).
double dice(const ClassCounts& counts);
/// TP / (TP + FP + FN); NaN when both are empty.
double iou(const ClassCounts& counts);

/// The mean of the values that are not NaN; NaN when there is none.
double nan_mean(const std::vector<double>& values);

}  // namespace voxshard
