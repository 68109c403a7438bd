#include "libcore/models/resnet.h"

namespace voxshard {
namespace {

struct Block {
  std::string name;
  std::int64_t filters = 64;
  std::int64_t stride = 1;
  bool projection = false;
};

class ResNet {
 public:
  explicit ResNet(Layers& layers) : l_(layers) {}

  ValueId stem(ValueId x, const ResNetConfig& config) {
    const std::string name = "backbone/stem";
    x = l_.norm_activation(conv(x, {name, config.filters, 7, 2, config.frozen_stem}), name);
    return l_.max_pool(x, name + "/pool", 3, 2);
  }

  ValueId basic(ValueId x, const Block& block) {
    ValueId y = conv_norm_activation(x, block.name + "/conv1", block.filters, 3, block.stride);
    y = last(y, block.name + "/conv2", block.filters, 3);
    return join(y, x, block, block.filters);
  }

  ValueId bottleneck(ValueId x, const Block& block) {
    ValueId y = conv_norm_activation(x, block.name + "/conv1", block.filters, 1, 1);
    y = conv_norm_activation(y, block.name + "/conv2", block.filters, 3, block.stride);
    y = last(y, block.name + "/conv3", 4 * block.filters, 1);
    return join(y, x, block, 4 * block.filters);
  }

 private:
  struct Conv {
    std::string name;
    std::int64_t filters, kernel, stride;
    bool frozen = false;
  };

  ValueId conv(ValueId x, const Conv& c) {
    return l_.conv(x, {.name = c.name,
                       .filters = c.filters,
                       .kernel = c.kernel,
                       .stride = c.stride,
                       .bias = false,
                       .frozen = c.frozen,
                       .padding = Padding::kFixed,
                       .kernel_begins = initial::VarianceScaling{1}});
  }

  ValueId conv_norm_activation(ValueId x, const std::string& name, std::int64_t filters, std::int64_t kernel,
                               std::int64_t stride) {
    return l_.norm_activation(conv(x, {name, filters, kernel, stride}), name);
  }

  /// The last convolution of a block: its gamma is initialised to 0, so that the block initially equals its shortcut.
  ValueId last(ValueId x, const std::string& name, std::int64_t filters, std::int64_t kernel) {
    return l_.norm_activation(conv(x, {name, filters, kernel, 1}), name,
                              {.slope = kNoActivation, .gamma_begins = initial::Constant{0}});
  }

  ValueId join(ValueId y, ValueId x, const Block& block, std::int64_t filters) {
    const std::string name = block.name + "/shortcut";
    if (block.projection)
      x = l_.norm_activation(conv(x, {name, filters, 1, block.stride}), name, {.slope = kNoActivation});
    return l_.activation(l_.add(y, x, block.name + "/sum"), block.name);
  }

  Layers& l_;
};

std::vector<int> blocks_of(Backbone backbone) {
  return backbone == Backbone::kResNet18 ? std::vector{2, 2, 2, 2} : std::vector{3, 4, 6, 3};
}

}  // namespace

std::vector<ValueId> resnet(Layers& layers, const ResNetConfig& config, ValueId image) {
  ResNet net(layers);
  ValueId x = net.stem(image, config);
  std::vector<ValueId> groups;
  for (int blocks : blocks_of(config.backbone)) {
    const auto group = static_cast<int>(groups.size());
    for (int i = 0; i < blocks; ++i) {
      const Block block{.name = "backbone/group" + std::to_string(group + 2) + "/block" + std::to_string(i),
                        .filters = config.filters << group,
                        .stride = group > 0 && i == 0 ? 2 : 1,
                        .projection = i == 0};
      x = config.backbone == Backbone::kResNet50 ? net.bottleneck(x, block) : net.basic(x, block);
    }
    groups.push_back(x);
  }
  return groups;
}

}  // namespace voxshard
