// A feature pyramid (Lin et al. 2017) of levels 3 to 7 from C3, C4, C5, in the form of Cloud TPU's RetinaNet.
//
//   lateral 1x1 convolutions; top down: nearest up-sampling by 2 to the lateral's size, added to it; then a 3x3
//   convolution P6 = 3x3 stride 2 of P5, P7 = 3x3 stride 2 of ReLU(P6)      each level ends in a norm without
//   activation
//
// All convolutions have a bias. Source: tensorflow/tpu, models/official/detection/modeling/architecture/fpn.py.
#pragma once

#include <vector>

#include "libcore/detection/anchors.h"
#include "libcore/models/layers.h"

namespace voxshard {

/// P3 to P7, `filters` channels each; level L has ceil(extent / 2^L) cells per axis.
///   features  C3, C4, C5: each half of the one before, rounded up
std::vector<ValueId> feature_pyramid(Layers& layers, const std::vector<ValueId>& features, std::int64_t filters);

}  // namespace voxshard
