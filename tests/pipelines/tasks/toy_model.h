// A model that only tests define: two convolutions over a small grey image. It is passed in by a table; no folder but
// tests/ knows of it.
//
//   ModelSpec spec = usual_spec(model_named({toy_model()}, "toy"));
#pragma once

#include "pipelines/model_runs/model_spec.h"

namespace voxshard::test {

enum class ToyShape { kFlat, kSteep };

struct ToyConfig {
  std::int64_t width = 3, channels = 1, classes = 2;
  double slope = 0;
  ToyShape shape = ToyShape::kFlat;
};

inline Graph build_toy(const ToyConfig& config, const GraphOptions& o, const OpTable& ops) {
  Graph graph;
  Builder b(graph, ops);
  Layers layers(b, {.dtype = o.dtype, .training = o.training, .slope = config.slope});
  const ValueId image = b.input("image", {o.dtype, {o.batch, o.size[0], o.size[1], config.channels}}, input::Image{});
  ValueId x = layers.activation(layers.conv(image, {.name = "first", .filters = config.width}), "first");
  if (config.shape == ToyShape::kSteep)
    x = layers.activation(layers.conv(x, {.name = "second", .filters = config.width}), "second");
  x = layers.conv(x, {.name = "head", .filters = config.classes, .kernel = 1, .f32_result = true});
  graph.outputs["logits"] = x;
  if (!o.training) return graph;
  const ValueId labels =
      b.input("labels", {DType::kI32, {o.batch, o.size[0], o.size[1], 1}}, input::Labels{.classes = config.classes});
  const SegmentationAttrs attrs{.loss = LossKind::kCrossEntropy, .batch = o.batch, .dtype = o.dtype};
  graph.outputs["loss"] =
      b.op("segmentation_loss", {b.op("segmentation_sums", {x, labels}, attrs, "loss/sums"), x, labels}, attrs, "loss");
  return graph;
}

inline std::shared_ptr<const Model> toy_model() {
  using C = ToyConfig;
  return std::make_shared<const Model>(Model{
      .name = "toy",
      .group = "Toys",
      .spatial_axes = 2,
      .config = C{},
      .fields = {field(&C::width, {.name = "width", .help = "Filters", .least = 1, .most = 16}),
                 field(&C::channels, {.name = "channels", .help = "Image channels", .least = 1, .of_data = true}),
                 field(&C::classes, {.name = "classes", .help = "Classes", .least = 2, .of_data = true}),
                 field(&C::slope, {.name = "slope", .help = "Below zero", .least = 0, .below = 1, .shapes = false}),
                 field(&C::shape,
                       {.name = "shape", .help = "flat or steep", .names = {"flat", "steep"}, .option = "toy-shape"})},
      .build = [](const std::any& config, const GraphOptions& o, const OpTable& ops) {
        return build_toy(std::any_cast<const C&>(config), o, ops);
      }});
}

}  // namespace voxshard::test
