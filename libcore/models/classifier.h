// What classifiers share: config fields, the loss over one label per sample. A classified sample is a segmentation of
// one voxel: logits (N, 1, .., classes), labels (N, 1, .., 1), so that sums, norms, losses and cuts are those of
// volumes.
//
//   const ValueId logits = layers.dense(features, {.name = "head", .filters = config.classes, .f32_result = true});
//   add_class_loss(b, logits, options);
#pragma once

#include "libcore/models/layers.h"
#include "libcore/models/model.h"

namespace voxshard {

/// The names of the inputs that a classifier is fed, and of its result.
///   "image" (N, spatial axes, channels)    "labels" (N, 1, .., 1) i32, -1: not known    output "logits" (N, 1, ..,
///   classes) f32
/// Adds "logits" to the outputs and, in training, "labels" and "loss": cross-entropy, the mean over the samples with a
/// label.
void add_class_loss(Builder& b, ValueId logits, const GraphOptions& options);

/// The mean over the spatial axes of `features`, one dense layer, the loss.
void add_class_head(Builder& b, Layers& layers, ValueId features, std::int64_t classes, const GraphOptions& options);

/// "image" of the options with so many channels.
ValueId image_input(Builder& b, const GraphOptions& options, std::int64_t channels);

/// The rows of channels and classes of a config with these members.
template <class Config>
std::vector<ConfigField> class_fields() {
  return {field(&Config::channels,
                {.name = "channels", .help = "Image channels", .least = 1, .most = 65536, .of_data = true}),
          field(&Config::classes, {.name = "classes", .help = "Classes", .least = 2, .most = 65536, .of_data = true})};
}

}  // namespace voxshard
