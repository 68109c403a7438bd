// Copies one sample into a core's box of a batch.
//
//   place_sample(pixels, 0, box);      // (H, W, C) into (N, H, W, C), or (D, H, W, C) into (N, D, H, W, C)
#pragma once

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// Writes the part of sample `sample` that lies in `box` (N, .., C); zeros beyond the end of the sample.
///   pixels  (.., C), at the low corner of the sample, with one axis less than the box
void place_sample(const Tensor& pixels, std::int64_t sample, const TensorView& box);

}  // namespace voxshard
