#include "libcore/models/digits.h"

#include "libcore/models/classifier.h"

namespace voxshard {
namespace {

constexpr std::int64_t kPixels = 28, kHidden = 200;
constexpr const char* kAsPublished = "as published for the digits CNN";

const std::vector<ConfigField>& digits_fields() {
  static const std::vector<ConfigField> rows = [] {
    std::vector<ConfigField> all = class_fields<DigitsConfig>();
    all.push_back(field(&DigitsConfig::size_multiplier,
                        {.name = "size_multiplier",
                         .help = "The image is enlarged by this integer, to 28 times as many pixels",
                         .least = 1,
                         .most = 64}));
    all.push_back(field(&DigitsConfig::dropout, {.name = "dropout",
                                                 .help = "The share of the hidden layer that a step drops",
                                                 .least = 0,
                                                 .below = 1,
                                                 .shapes = false}));
    return all;
  }();
  return rows;
}

Dims size_of(const std::any& config) {
  return Dims::filled(2, kPixels * std::any_cast<const DigitsConfig&>(config).size_multiplier);
}

ValueId norm(Layers& layers, ValueId x, const std::string& name) {
  return layers.norm_activation(x, name, {.scale = false});
}

ValueId convolution(Layers& layers, ValueId x, const std::string& name, std::int64_t filters, std::int64_t kernel,
                    std::int64_t stride) {
  const ConvOptions options{.name = name, .filters = filters, .kernel = kernel, .stride = stride, .bias = false};
  return norm(layers, layers.conv(x, options), name);
}

}  // namespace

Graph build_digits(const DigitsConfig& config, const GraphOptions& options, const OpTable& ops) {
  check_graph("digits", digits_fields(), config, options, 2, 2);
  if (const Dims size = size_of(config); options.size != size)
    throw Error(ErrorKind::kConfig, "[digits] a size multiplier of " + std::to_string(config.size_multiplier) +
                                        " makes images " + to_string(size) + ", got " + to_string(options.size));
  Graph graph;
  Builder b(graph, ops);
  Layers layers(b, {.dtype = options.dtype, .training = options.training, .norm = {.replicas = options.norm_replicas}});
  ValueId x = image_input(b, options, config.channels);
  x = convolution(layers, x, "conv0", 12, 3, 1);
  x = convolution(layers, x, "conv1", 24, 6, 2);
  x = convolution(layers, x, "conv2", 64, 6, 2);
  x = norm(layers, layers.dense(x, {.name = "dense", .filters = kHidden, .bias = false}), "dense");
  x = layers.dropout(x, "dropout", config.dropout);
  add_class_loss(b, layers.dense(x, {.name = "head", .filters = config.classes, .f32_result = true}), config, options);
  return graph;
}

Model digits() {
  return {.name = "digits",
          .group = "digits CNN",
          .spatial_axes = 2,
          .data = kClassLabels,
          .config = DigitsConfig{},
          .fields = digits_fields(),
          .build =
              [](const std::any& config, const GraphOptions& options, const OpTable& ops) {
                return build_digits(std::any_cast<const DigitsConfig&>(config), options, ops);
              },
          .size = size_of,
          .usual = {.batch = 64,
                    .reason = kAsPublished,
                    .others = {{"epochs", std::int64_t{10}, kAsPublished},
                               {"learning-rate", 0.01, kAsPublished},
                               {"schedule", std::string("exponential"), "the rate falls after each pass over the data"},
                               {"lr-decay-rate", 0.7, kAsPublished},
                               {"lr-decay-epochs", std::int64_t{1}, kAsPublished}}}};
}

}  // namespace voxshard
