// ResNet as a backbone (He et al. 2016), in the form of Cloud TPU's detectors ("v1.5": a bottleneck strides in its
// 3x3).
//
//   stem: 7x7 stride 2, norm, ReLU, max pool 3x3 stride 2      groups of blocks: base 64, 128, 256, 512; all but the
//   first stride basic block (18, 34): 3x3, 3x3        bottleneck (50): 1x1, 3x3, 1x1 to 4 x base        y =
//   ReLU(block(x) + shortcut(x))
//
// The first block of a group has a 1x1 convolution and a norm as its shortcut. No convolution has a bias; kernels are
// initialised by variance scaling, the gamma of a block's last norm with 0. ResNet-50 has 23,508,032 parameters without
// its classifier. Source: tensorflow/tpu, models/official/retinanet/retinanet_architecture.py and
// detection/modeling/architecture/resnet.py.
#pragma once

#include <vector>

#include "libcore/models/layers.h"

namespace voxshard {

enum class Backbone { kResNet18, kResNet34, kResNet50 };

struct ResNetConfig {
  Backbone backbone = Backbone::kResNet50;
  std::int64_t filters = 64;  // of the stem and the first group
  bool frozen_stem = false;   // the stem's convolution keeps its initial values
};

/// Returns the last value of each group, C2 to C5: strides 4, 8, 16, 32; ceil(extent / stride) cells per axis.
///   image  (N, H, W, channels), any extents
std::vector<ValueId> resnet(Layers& layers, const ResNetConfig& config, ValueId image);

}  // namespace voxshard
