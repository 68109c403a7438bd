// Residual networks over volumes and clips (N, D or T, H, W, C) (Tran et al. 2018), as torchvision defines them: 18
// layers in basic blocks, no pooling in front.
//
//   resnet3d18   stem 3x7x7 stride 1x2x2, 64           block: two convolutions 3x3x3
//   r2plus1d18   stem 1x7x7 stride 1x2x2, 45; 3x1x1, 64    each convolution as 1x3x3 to M channels, norm, ReLU, 3x1x1,
//                M = in * out * 27 / (9 in + 3 out) of the block's first convolution: as many weights as 3x3x3 has
//
// Groups of two blocks with 64, 128, 256, 512 filters, all but the first stride 2; then the mean and one dense layer.
// With 3 channels and 400 classes they have 33,371,472 and 31,505,325 parameters.
#pragma once

#include "libcore/models/classifier.h"

namespace voxshard {

struct ResNet3dConfig : ClassifierConfig {
  ResNet3dConfig() : ClassifierConfig{.classes = 400} {}

  bool factorised = false;     // r2plus1d18; set by the model's name
  std::int64_t filters = 64;   // of the first group
  double norm_momentum = 0.9;  // of the running statistics
};

/// Builds a graph with the inputs and outputs of classifier.h, for any extents. Errors: kConfig.
Graph build_resnet3d(const ResNet3dConfig& config, const GraphOptions& options, const OpTable& ops);

/// The models' rows in the table of models.
Model resnet3d(const std::string& name, bool factorised);

}  // namespace voxshard
