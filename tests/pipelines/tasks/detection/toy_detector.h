// A detector beside RetinaNet that only tests define: two strided convolutions and two heads on one level, whose cells
// of 4 pixels have one square anchor. It is passed in by a table; no folder but tests/ knows of it.
//
//   ModelSpec spec = usual_spec(toy_detector());
//   run_train({.spec = spec, ...}, progress);
#pragma once

#include "libcore/models/box_loss.h"
#include "libcore/models/detector.h"
#include "libcore/models/layers.h"

namespace voxshard::test {

struct ToyDetectorConfig {
  std::int64_t filters = 8, channels = 3, classes = 2;  // no background
};

inline AnchorOptions toy_anchors() {
  return {.first_level = 2, .last_level = 2, .scales = 1, .side = 3.5, .aspects = {{1, 1}}};
}

inline Graph build_toy_detector(const ToyDetectorConfig& config, const GraphOptions& o, const OpTable& ops) {
  Graph graph;
  Builder b(graph, ops);
  Layers layers(b, {.dtype = o.dtype, .training = o.training});
  ValueId x = b.input("image", {o.dtype, {o.batch, o.size[0], o.size[1], config.channels}}, input::Image{});
  for (const char* name : {"first", "second"})
    x = layers.activation(layers.conv(x, {.name = name, .filters = config.filters, .stride = 2}), name);
  const ValueId logits = layers.conv(x, {.name = "classes", .filters = config.classes, .f32_result = true});
  const ValueId boxes = layers.conv(x, {.name = "boxes", .filters = 4, .f32_result = true});
  graph.outputs["class_logits/2"] = logits;
  graph.outputs["boxes/2"] = boxes;
  if (o.has_loss()) add_box_loss(b, {with_box_targets(b, logits, boxes, config.classes, 2)}, {}, o);
  return graph;
}

inline std::shared_ptr<const Model> toy_detector() {
  using C = ToyDetectorConfig;
  return std::make_shared<const Model>(
      Model{.name = "toy_detector",
            .group = "Toys",
            .spatial_axes = 2,
            .data = kBoxes,
            .config = C{},
            .fields = {field(&C::filters, {.name = "filters", .help = "Filters", .least = 1, .most = 64}),
                       field(&C::channels, {.name = "channels", .help = "Image channels", .least = 1, .of_data = true}),
                       field(&C::classes, {.name = "classes", .help = "Classes", .least = 1, .of_data = true})},
            .build = [](const std::any& config, const GraphOptions& o,
                        const OpTable& ops) { return build_toy_detector(std::any_cast<const C&>(config), o, ops); },
            .detector =
                [](const std::any&) {
                  return anchor_detector(toy_anchors(), 0, {.background = false, .score_threshold = 0.3});
                },
            .targets = target_inputs(toy_anchors())});
}

}  // namespace voxshard::test
