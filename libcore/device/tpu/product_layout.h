// How a tensor lies in a TPU's memory when products read and write it: channels in the 128 lanes and samples in the 8
// sublanes, or samples in the lanes and channels in the sublanes, whichever is smaller. What comes from the hosts and
// what a step keeps for later lies in the smallest tiles instead (libcore/memory/tiles.h).
//
//   product_elements({4, 16, 256, 256, 32})   // 8 x 16 x 256 x 256 x 128: 8 times what it holds
//   product_elements({8, 80, 160, 256})       // nothing is padded
//
// Source: Cloud TPU performance guide, the padding rules of convolutions (8 samples per core and channels by 128, or
// 128 samples and channels by 8); XLA's rematerialisation changes the layout of what is kept ("compress").
#pragma once

#include "libcore/memory/tiles.h"

namespace voxshard {

/// So many samples with those that fill the last 8 sublanes.
std::int64_t padded_samples(std::int64_t samples);

/// Elements of a box of activations of `extent` (N, spatial axes, C) with padding. Of less than four axes:
/// tiled_elements().
double product_elements(const Dims& extent);

}  // namespace voxshard
