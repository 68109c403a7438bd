// A classifier that only tests define, over images or volumes of any size: one convolution, the mean over the image,
// one dense layer. It is passed in by a table; no folder but tests/ knows of it.
//
//   ModelSpec spec = usual_spec(toy_classifier(2));
#pragma once

#include "libcore/models/classifier.h"
#include "pipelines/model_runs/model_spec.h"

namespace voxshard::test {

struct ToyClassifierConfig : ClassifierConfig {
  ToyClassifierConfig() : ClassifierConfig{.channels = 1, .classes = 2} {}
};

inline std::shared_ptr<const Model> toy_classifier(int axes) {
  using C = ToyClassifierConfig;
  return std::make_shared<const Model>(
      Model{.name = axes == 2 ? "toy_classes" : "toy_classes3d",
            .group = "Toys",
            .spatial_axes = axes,
            .data = kClassLabels,
            .config = C{},
            .fields = class_fields<C>(),
            .build = [](const std::any& any, const GraphOptions& o, const OpTable& ops) {
              const auto& config = std::any_cast<const C&>(any);
              Graph graph;
              Builder b(graph, ops);
              Layers layers(b, {.dtype = o.dtype, .training = o.training});
              const ValueId image = image_input(b, o, config.channels);
              const ValueId x = layers.activation(layers.conv(image, {.name = "first", .filters = 6}), "first");
              add_class_head(b, layers, x, config, o);
              return graph;
            }});
}

inline ModelTable with_toys() {
  ModelTable models = model_table();
  models.push_back(toy_classifier(2));
  models.push_back(toy_classifier(3));
  return models;
}

}  // namespace voxshard::test
