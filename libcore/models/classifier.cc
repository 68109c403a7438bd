#include "libcore/models/classifier.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace voxshard {

ValueId image_input(Builder& b, const GraphOptions& options, std::int64_t channels) {
  Shape image{options.batch};
  for (auto extent : options.size) image.push_back(extent);
  image.push_back(channels);
  return b.input("image", {options.dtype, image}, input::Image{});
}

namespace {

std::vector<double> weights_of(const ClassifierConfig& config) {
  std::vector<double> weights;
  const char* at = config.class_weights.data();
  const char* end = at + config.class_weights.size();
  while (at != end) {
    double weight = -1;
    const auto [stop, error] = std::from_chars(at, end, weight);
    const bool separated = stop == end || (*stop == ',' && stop + 1 != end);
    if (error != std::errc() || !separated || !(weight >= 0) || !std::isfinite(weight))
      throw Error(ErrorKind::kConfig, "[classifier] the class weights \"" + config.class_weights +
                                          "\" should be numbers of at least 0 with commas between, as 0.5,2,1");
    weights.push_back(weight);
    at = stop == end ? end : stop + 1;
  }
  if (!weights.empty() && std::ssize(weights) != config.classes)
    throw Error(ErrorKind::kConfig, "[classifier] " + std::to_string(weights.size()) + " class weights for " +
                                        std::to_string(config.classes) + " classes; give one each");
  if (!weights.empty() && *std::ranges::max_element(weights) == 0)
    throw Error(ErrorKind::kConfig, "[classifier] the class weights are all 0; give one that is more");
  return weights;
}

}  // namespace

void add_class_loss(Builder& b, ValueId logits, const ClassifierConfig& config, const GraphOptions& options) {
  Graph& graph = b.graph();
  graph.outputs["logits"] = logits;
  if (!options.has_loss()) return;
  Shape shape = b.type(logits).shape;
  const std::int64_t classes = shape.back();
  shape[shape.axes() - 1] = 1;
  const ValueId labels = b.input("labels", {DType::kI32, shape}, input::Labels{.classes = classes});
  graph.follow(labels, logits);
  const SegmentationAttrs attrs{.loss = LossKind::kCrossEntropy,
                                .groups = options.loss_replicas,
                                .batch = options.batch,
                                .dtype = options.dtype,
                                .smoothing = config.label_smoothing,
                                .weights = weights_of(config)};
  const ValueId sums = b.op("segmentation_sums", {logits, labels}, attrs, "loss/sums");
  if (options.evaluating) graph.outputs["labels"] = labels, graph.outputs["loss_sums"] = sums;
  graph.outputs["loss"] = b.op("segmentation_loss", {sums, logits, labels}, attrs, "loss");
}

void add_class_head(Builder& b, Layers& layers, ValueId features, const ClassifierConfig& config,
                    const GraphOptions& options) {
  const ValueId mean = layers.mean(features, "mean");
  add_class_loss(b, layers.dense(mean, {.name = "head", .filters = config.classes, .f32_result = true}), config,
                 options);
}

}  // namespace voxshard
