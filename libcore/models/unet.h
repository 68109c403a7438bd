// The reference 3D U-Net of Cloud TPU (models/official/unet3d): at depth 4, base 32, 1 channel and 3 classes it has
// 19,073,795 parameters. Also in 2-D, for images.
//
//   Encoder level d: two 3^n convolutions to base * 2^d and base * 2^(d+1), each norm + activation; 2^n max pool
//   between levels. Decoder: transposed convolution of kernel and stride 2 keeping its channels (or nearest
//   up-sampling), concat [up, skip], two convolutions to the skip's channels. Head: 1^n convolution to the classes.
#pragma once

#include "libcore/kernels/loss.h"
#include "libcore/models/layers.h"
#include "libcore/models/model.h"

namespace voxshard {

enum class Pooling { kSame, kValid };

struct UNetConfig {
  std::int64_t base_filters = 32;
  int depth = 4;
  std::int64_t channels = 1;
  std::int64_t classes = 3;
  NormKind norm = NormKind::kBatch;
  double slope = 0;           // 0: ReLU, > 0: leaky ReLU
  bool deconvolution = true;  // false: nearest up-sampling
  LossKind loss = LossKind::kDiceCE;
  Pooling pool = Pooling::kSame;
  // In samples in which not every class was annotated: false: their background is ignored; true: the training loss is
  // marginal (kernels/loss.h), so that background also stands for the classes that were not.
  bool marginal = false;
  bool deep_supervision = false;  // in training also losses of coarser decoder levels, see supervised_levels()
  // Networks side by side that begin with other values and learn from the same samples, each by its own loss; the
  // logits are their mean.
  std::int64_t members = 1;
};

/// Returns the weights of the losses of decoder levels 0 (full resolution), 1, ...: 1, 1/2, 1/4, ... divided by their
/// sum. The coarsest decoder level has none, so that depth 4 gives {2/3, 1/3} and a depth of 3 or less {1}.
/// Source: _build_loss of nnUNetTrainer, nnU-Net 2.5 (weight 0 for the lowest resolution)
std::vector<double> supervised_levels(int depth);

/// Builds a graph with the inputs "image" (N, ..., channels) in `dtype` and, in training, "labels" (N, ..., 1) i32 and,
/// where the loss is marginal, "known" (N, classes) i32 (an evaluation ignores the background in their place);
/// outputs "logits" (f32) and "loss" (f64); 2 or 3 spatial axes. Errors: kConfig for impossible sizes or settings.
Graph build_unet(const UNetConfig& config, const GraphOptions& options, const OpTable& ops);

/// Its row in the table of models, over volumes or images.
Model unet(const std::string& name, int spatial_axes);

/// The number of trainable parameters in a graph.
std::int64_t count_parameters(const Graph& graph);

}  // namespace voxshard
