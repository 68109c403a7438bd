#include "libcore/models/classifier.h"

namespace voxshard {

ValueId image_input(Builder& b, const GraphOptions& options, std::int64_t channels) {
  Shape image{options.batch};
  for (auto extent : options.size) image.push_back(extent);
  image.push_back(channels);
  return b.input("image", {options.dtype, image}, input::Image{});
}

void add_class_loss(Builder& b, ValueId logits, const GraphOptions& options) {
  Graph& graph = b.graph();
  graph.outputs["logits"] = logits;
  if (!options.training) return;
  Shape shape = b.type(logits).shape;
  const std::int64_t classes = shape.back();
  shape[shape.rank() - 1] = 1;
  const ValueId labels = b.input("labels", {DType::kI32, shape}, input::Labels{.classes = classes});
  graph.follow(labels, logits);
  const SegmentationAttrs attrs{.loss = LossKind::kCrossEntropy, .batch = options.batch, .dtype = options.dtype};
  const ValueId sums = b.op("segmentation_sums", {logits, labels}, attrs, "loss/sums");
  graph.outputs["loss"] = b.op("segmentation_loss", {sums, logits, labels}, attrs, "loss");
}

void add_class_head(Builder& b, Layers& layers, ValueId features, std::int64_t classes, const GraphOptions& options) {
  const ValueId mean = layers.mean(features, "mean");
  add_class_loss(b, layers.dense(mean, {.name = "head", .filters = classes, .f32_result = true}), options);
}

}  // namespace voxshard
