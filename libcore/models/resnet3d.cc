#include "libcore/models/resnet3d.h"

#include "libcore/models/classifier.h"

namespace voxshard {
namespace {

constexpr double kResNet3dEpsilon = 1e-5;
constexpr int kGroups = 4, kBlocks = 2;

const std::vector<ConfigField>& resnet3d_fields() {
  static const std::vector<ConfigField> rows = [] {
    std::vector<ConfigField> all = class_fields<ResNet3dConfig>();
    all.push_back(base_filters_field(&ResNet3dConfig::filters));
    all.push_back(norm_momentum_field(&ResNet3dConfig::norm_momentum));
    return all;
  }();
  return rows;
}

class ResNet3d {
 public:
  ResNet3d(Builder& b, Layers& layers, const ResNet3dConfig& config) : b_(b), l_(layers), config_(config) {}

  ValueId features(ValueId x) {
    x = stem(x);
    for (int group = 0; group < kGroups; ++group)
      for (int i = 0; i < kBlocks; ++i)
        x = block(x, "group" + std::to_string(group) + "/block" + std::to_string(i), config_.filters << group,
                  group > 0 && i == 0 ? 2 : 1);
    return x;
  }

 private:
  std::int64_t channels_of(ValueId x) const { return b_.type(x).shape.back(); }

  ValueId conv(ValueId x, const std::string& name, std::int64_t filters, const PerAxis& kernel, const PerAxis& stride) {
    return l_.conv(x, {.name = name,
                       .filters = filters,
                       .kernel = kernel,
                       .stride = stride,
                       .bias = false,
                       .padding = Padding::kFixed,
                       .kernel_begins = initial::VarianceScaling{2}});
  }

  ValueId stem(ValueId x) {
    if (!config_.factorised)
      return l_.norm_activation(conv(x, "stem", config_.filters, Dims{3, 7, 7}, Dims{1, 2, 2}), "stem");
    constexpr std::int64_t kPublished = 45, kOf = 64;
    const std::int64_t between = std::max<std::int64_t>(1, config_.filters * kPublished / kOf);
    x = l_.norm_activation(conv(x, "stem/space", between, Dims{1, 7, 7}, Dims{1, 2, 2}), "stem/space");
    return l_.norm_activation(conv(x, "stem/time", config_.filters, Dims{3, 1, 1}, 1), "stem/time");
  }

  /// A 3x3x3 convolution, or its two factors with `between` channels; the caller adds the norm behind it.
  ValueId convolution(ValueId x, const std::string& name, std::int64_t filters, std::int64_t between,
                      std::int64_t stride) {
    if (!config_.factorised) return conv(x, name, filters, 3, stride);
    x = conv(x, name + "/space", between, Dims{1, 3, 3}, Dims{1, stride, stride});
    x = l_.norm_activation(x, name + "/space");
    return conv(x, name + "/time", filters, Dims{3, 1, 1}, Dims{stride, 1, 1});
  }

  ValueId block(ValueId x, const std::string& name, std::int64_t filters, std::int64_t stride) {
    const std::int64_t in = channels_of(x);
    const std::int64_t between = std::max<std::int64_t>(1, in * filters * 27 / (9 * in + 3 * filters));
    ValueId y = l_.norm_activation(convolution(x, name + "/conv1", filters, between, stride), name + "/conv1");
    y = l_.norm_activation(convolution(y, name + "/conv2", filters, between, 1), name + "/conv2",
                           {.slope = kNoActivation});
    if (stride > 1 || in != filters) {
      const std::string shortcut = name + "/shortcut";
      x = l_.norm_activation(conv(x, shortcut, filters, 1, stride), shortcut, {.slope = kNoActivation});
    }
    return l_.activation(l_.add(y, x, name + "/sum"), name);
  }

  Builder& b_;
  Layers& l_;
  const ResNet3dConfig& config_;
};

}  // namespace

Graph build_resnet3d(const ResNet3dConfig& config, const GraphOptions& options, const OpTable& ops) {
  check_graph("resnet3d", resnet3d_fields(), config, options, 3, 3);
  Graph graph;
  Builder b(graph, ops);
  const NormOptions norm{
      .replicas = options.norm_replicas, .momentum = config.norm_momentum, .epsilon = kResNet3dEpsilon};
  Layers layers(b, {.dtype = options.dtype, .training = options.training, .norm = norm});
  const ValueId image = image_input(b, options, config.channels);
  add_class_head(b, layers, ResNet3d(b, layers, config).features(image), config, options);
  return graph;
}

Model resnet3d(const std::string& name, bool factorised) {
  ResNet3dConfig config;
  config.factorised = factorised;
  return {.name = name,
          .group = "3-D ResNet",
          .spatial_axes = 3,
          .data = kClassLabels,
          .config = config,
          .fields = resnet3d_fields(),
          .build =
              [](const std::any& any, const GraphOptions& options, const OpTable& ops) {
                return build_resnet3d(std::any_cast<const ResNet3dConfig&>(any), options, ops);
              },
          .usual = {.batch = 4, .reason = kNormsWantBatches}};
}

}  // namespace voxshard
