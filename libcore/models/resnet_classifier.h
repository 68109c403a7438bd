// Image classifiers: the ResNet that is also the backbone of detection (resnet.h), the mean over the last group, one
// dense layer.
//
//   resnet18: 2 2 2 2 basic blocks      resnet34: 3 4 6 3 basic blocks      resnet50: 3 4 6 3 bottlenecks
//
// With 3 channels and 1000 classes ResNet-50 has 25,557,032 parameters.
#pragma once

#include "libcore/models/classifier.h"
#include "libcore/models/resnet.h"

namespace voxshard {

struct ResNetClassifierConfig : ClassifierConfig {
  Backbone backbone = Backbone::kResNet50;  // set by the model's name
  std::int64_t filters = 64;                // of the stem
  double norm_momentum = 0.9;               // of the running statistics
};

/// Builds a graph with the inputs and outputs of classifier.h, for any extents. Errors: kConfig.
Graph build_resnet_classifier(const ResNetClassifierConfig& config, const GraphOptions& options, const OpTable& ops);

/// The models' rows in the table of models.
Model resnet_classifier(const std::string& name, Backbone backbone);

}  // namespace voxshard
