// The CNN for handwritten digits that Cloud TPU's introduction trains on eight cores (a Keras notebook): 28 x 28
// pixels, or an integer multiple, with images enlarged to raise the work.
//
//   conv 3x3, 12     conv 6x6 stride 2, 24     conv 6x6 stride 2, 64     flatten     dense 200     dropout 0.4 dense 10
//   (SAME; each but the last without bias, followed by a batch norm with centre and without scale, momentum 0.99, and
//   ReLU)
//
// With 10 classes and 1 channel it has 695,282 parameters at 28 x 28. Prediction and training have one size: the first
// dense layer has a weight per pixel of its features.
#pragma once

#include "libcore/models/classifier.h"

namespace voxshard {

struct DigitsConfig : ClassifierConfig {
  DigitsConfig() : ClassifierConfig{.channels = 1, .classes = 10} {}

  std::int64_t size_multiplier = 1;  // 28 pixels times this
  double dropout = 0.4;
};

/// Builds a graph with the inputs and outputs of classifier.h, H = W = 28 * size_multiplier. Errors: kConfig.
Graph build_digits(const DigitsConfig& config, const GraphOptions& options, const OpTable& ops);

/// Its row in the table of models.
Model digits();

}  // namespace voxshard
