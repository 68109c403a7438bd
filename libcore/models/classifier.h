// Common parts of classifiers: config fields, and the loss over one label per sample. A classified sample is a
// segmentation of one voxel: logits (N, 1, .., classes), labels (N, 1, .., 1), so that sums, norms, losses and cuts are
// those of volumes.
//
//   const ValueId logits = layers.dense(features, {.name = "head", .filters = config.classes, .f32_result = true});
//   add_class_loss(b, logits, config, options);
#pragma once

#include "libcore/models/layers.h"
#include "libcore/models/model.h"

namespace voxshard {

/// The reason why a classifier with batch norms is usually trained with several samples a step.
inline constexpr const char* kNormsWantBatches = "a batch norm wants several samples a step";

/// The config that all classifiers have for classes and their loss, cross-entropy (kernels/loss.h).
struct ClassifierConfig {
  std::int64_t channels = 3;
  std::int64_t classes = 1000;
  double label_smoothing = 0;  // the fraction of a label that is spread over all classes
  std::string class_weights;   // "0.5,2,1": one number of at least 0 per class; empty: 1 each
};

/// Makes the input "labels" (N, 1, .., 1) i32, -1: unknown, and adds "logits" (N, 1, .., classes) f32 to the outputs
/// and, in training, "loss": cross-entropy, the mean over the samples with a label. The model's other input is "image"
/// (N, spatial axes, channels). Errors: kConfig when the number of weights differs from that of classes.
void add_class_loss(Builder& b, ValueId logits, const ClassifierConfig& config, const GraphOptions& options);

/// Adds the mean over the spatial axes of `features`, one dense layer and the loss.
void add_class_head(Builder& b, Layers& layers, ValueId features, const ClassifierConfig& config,
                    const GraphOptions& options);

/// Makes the input "image" of the size in the options with `channels` channels.
ValueId image_input(Builder& b, const GraphOptions& options, std::int64_t channels);

/// The config rows of a model whose config begins with a ClassifierConfig.
template <class Config>
std::vector<ConfigField> class_fields() {
  return {
      field<Config, std::int64_t>(
          &Config::channels,
          {.name = "channels", .help = "Image channels", .least = 1, .most = 65536, .of_data = true}),
      field<Config, std::int64_t>(&Config::classes,
                                  {.name = "classes", .help = "Classes", .least = 2, .most = 65536, .of_data = true}),
      field<Config, double>(&Config::label_smoothing, {.name = "label_smoothing",
                                                       .help = "The share of a label that is spread over all classes",
                                                       .least = 0,
                                                       .below = 1,
                                                       .shapes = false}),
      field<Config, std::string>(
          &Config::class_weights,
          {.name = "class_weights", .help = "Weights in the loss, one per class: 0.5,2,1", .shapes = false})};
}

}  // namespace voxshard
