// The layout of a tensor in a TPU's memory when products read and write it: channels in the 128 lanes and samples in
// the 8 sublanes, or samples in the lanes and channels in the sublanes, whichever is smaller. Inputs from the hosts and
// values that a step keeps for later use the smallest tiles instead (libcore/memory/tiles.h).
//
//   product_elements({4, 16, 256, 256, 32})   // 8 x 16 x 256 x 256 x 128: 8 times the elements that it holds
//   product_elements({8, 80, 160, 256})       // nothing is padded
//
// Source: Cloud TPU performance guide, the padding rules of convolutions (8 samples per core and channels by 128, or
// 128 samples and channels by 8); XLA's rematerialisation changes the layout of kept values ("compress").
#pragma once

#include "libcore/memory/tiles.h"

namespace voxshard {

/// Rounds `samples` up to a multiple of the 8 sublanes.
std::int64_t padded_samples(std::int64_t samples);

/// Returns the elements of a box of activations of `extent` (N, spatial axes, C) including padding. For fewer than four
/// axes: tiled_elements().
double product_elements(const Dims& extent);

}  // namespace voxshard
