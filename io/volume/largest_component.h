// Of each class of a label map its largest connected part: small islands that a model finds elsewhere become
// background.
//
//   const auto removed = keep_largest_components(labels, {0, 1, 1}, most_bytes);      // of the classes 1 and 2
#pragma once

#include <vector>

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// Sets the voxels of all parts of a class but its largest to 0. Voxels that share a face, an edge or a corner are
/// connected; of equal parts the one that comes first in memory is kept.
///   labels     (D, H, W) i32, 0 or more
///   of_class   1 for a class that this is done to; classes behind its end are left alone
///   most_bytes  memory that the parts may take; 0: no limit
///   returns  by class, the voxels that became background
/// Memory: 12 bytes for each run of voxels of one class along a row, and the runs of two slices. Errors: kInput
/// E_BUDGET when that is more than most_bytes; the labels are then as they were.
std::vector<std::int64_t> keep_largest_components(Tensor& labels, const std::vector<char>& of_class,
                                                  std::int64_t most_bytes = 0);

}  // namespace voxshard
