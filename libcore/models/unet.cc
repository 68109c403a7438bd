#include "libcore/models/unet.h"


namespace voxshard {
namespace {

void check(const UNetConfig& config, const SegmentationOptions& options) {
  auto require = [](bool ok, const std::string& text) {
    if (!ok) throw Error(ErrorKind::kConfig, "[unet] " + text);
  };
  require(config.base_filters > 0, "base filters must be positive, got " + std::to_string(config.base_filters));
  require(config.depth >= 1 && config.depth <= 8, "depth must be 1 to 8, got " + std::to_string(config.depth));
  require(config.classes >= 2, "at least 2 classes are needed (background included), got " + std::to_string(config.classes));
  require(config.channels >= 1, "at least 1 image channel is needed");
  require(options.size.rank() == config.spatial_axes,
          "the size " + to_string(options.size) + " should have " + std::to_string(config.spatial_axes) + " axes");
  for (auto extent : options.size) require(extent > 0, "the size " + to_string(options.size) + " has an extent below 1");
  require(options.batch > 0, "the batch must be positive, got " + std::to_string(options.batch));
  require(options.norm_replicas > 0 && options.batch % options.norm_replicas == 0,
          "a batch of " + std::to_string(options.batch) + " cannot be shared by " +
              std::to_string(options.norm_replicas) + " replicas evenly");
}

ValueId block(Layers& layers, const std::vector<ValueId>& x, const std::string& name, std::int64_t filters) {
  return layers.norm_activation(layers.conv(x, {.name = name, .filters = filters}), name);
}

ValueId network(Builder& b, Layers& layers, const UNetConfig& config, ValueId x) {
  std::vector<ValueId> skips;
  for (int d = 0; d < config.depth; ++d) {
    const std::string level = "encoder" + std::to_string(d);
    const std::int64_t filters = config.base_filters << d;
    if (d > 0) x = layers.max_pool(x, level + "/pool");
    x = block(layers, {x}, level + "/conv0", filters);
    x = block(layers, {x}, level + "/conv1", 2 * filters);
    skips.push_back(x);
  }
  for (int d = config.depth - 2; d >= 0; --d) {
    const std::string level = "decoder" + std::to_string(d);
    const ValueId skip = skips[static_cast<std::size_t>(d)];
    const std::int64_t filters = b.type(skip).shape.back();
    x = config.deconvolution ? layers.conv_transpose(x, skip, level + "/up") : layers.upsample(x, skip, level + "/up");
    x = block(layers, {x, skip}, level + "/conv0", filters);
    x = block(layers, {x}, level + "/conv1", filters);
  }
  return layers.conv(x, {.name = "head", .filters = config.classes, .kernel = 1, .f32_result = true});
}

}  // namespace

Graph build_unet(const UNetConfig& config, const SegmentationOptions& options, const OpTable& ops) {
  check(config, options);
  Graph graph;
  Builder b(graph, ops);
  Shape image{options.batch};
  for (auto extent : options.size) image.push_back(extent);
  Shape labels = image;
  image.push_back(config.channels);
  labels.push_back(1);
  NormOptions norm{.kind = config.norm, .replicas = options.norm_replicas};
  if (config.norm == NormKind::kInstance) norm.epsilon = 1e-5;
  Layers layers(b, {.dtype = options.dtype, .training = options.training, .norm = norm, .slope = config.slope});
  const ValueId x = b.input("image", {options.dtype, image}, input::Image{});
  const ValueId logits = network(b, layers, config, x);
  graph.outputs["logits"] = logits;
  if (!options.training) return graph;
  const ValueId y = b.input("labels", {DType::kI32, labels}, input::Labels{.classes = config.classes});
  const SegmentationAttrs attrs{.loss = options.loss, .batch = options.batch, .dtype = options.dtype};
  const ValueId sums = b.op("segmentation_sums", {logits, y}, attrs, "loss/sums");
  graph.outputs["loss"] = b.op("segmentation_loss", {sums, logits, y}, attrs, "loss");
  return graph;
}

std::int64_t count_parameters(const Graph& graph) {
  std::int64_t count = 0;
  for (const Node& node : graph.nodes())
    if (node.role == Role::kParameter) count += element_count(node.type.shape);
  return count;
}

}  // namespace voxshard
