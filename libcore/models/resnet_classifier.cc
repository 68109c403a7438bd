#include "libcore/models/resnet_classifier.h"

#include "libcore/models/classifier.h"

namespace voxshard {
namespace {

constexpr double kResNetEpsilon = 1e-5;

const std::vector<ConfigField>& resnet_fields() {
  static const std::vector<ConfigField> rows = [] {
    std::vector<ConfigField> all = class_fields<ResNetClassifierConfig>();
    all.push_back(base_filters_field(&ResNetClassifierConfig::filters));
    all.push_back(norm_momentum_field(&ResNetClassifierConfig::norm_momentum));
    return all;
  }();
  return rows;
}

}  // namespace

Graph build_resnet_classifier(const ResNetClassifierConfig& config, const GraphOptions& options, const OpTable& ops) {
  check_graph("resnet", resnet_fields(), config, options, 2, 2);
  Graph graph;
  Builder b(graph, ops);
  const NormOptions norm{
      .replicas = options.norm_replicas, .momentum = config.norm_momentum, .epsilon = kResNetEpsilon};
  Layers layers(b, {.dtype = options.dtype, .training = options.training, .norm = norm});
  const ValueId image = image_input(b, options, config.channels);
  const ValueId features = resnet(layers, {.backbone = config.backbone, .filters = config.filters}, image).back();
  add_class_head(b, layers, features, config, options);
  return graph;
}

Model resnet_classifier(const std::string& name, Backbone backbone) {
  ResNetClassifierConfig config;
  config.backbone = backbone;
  return {.name = name,
          .group = "ResNet",
          .spatial_axes = 2,
          .data = kClassLabels,
          .config = config,
          .fields = resnet_fields(),
          .build =
              [](const std::any& any, const GraphOptions& options, const OpTable& ops) {
                return build_resnet_classifier(std::any_cast<const ResNetClassifierConfig&>(any), options, ops);
              },
          .usual = {.batch = 8, .reason = kNormsWantBatches}};
}

}  // namespace voxshard
