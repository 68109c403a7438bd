#include "libcore/models/retinanet.h"

#include <cmath>

#include "libcore/models/fpn.h"

namespace voxshard {
namespace {

constexpr int kHeadConvolutions = 4;
constexpr double kHeadDeviation = 0.01;
constexpr double kFirstScore = 0.01;
constexpr double kEpsilon = 1e-4;  // of all batch norms
constexpr double kAlpha = 0.25, kGamma = 1.5, kDelta = 0.1, kBoxWeight = 50;

void check(const RetinaNetConfig& config, const DetectionOptions& options) {
  auto require = [](bool ok, const std::string& text) {
    if (!ok) throw Error(ErrorKind::kConfig, "[retinanet] " + text);
  };
  require(config.filters >= 1 && config.pyramid_filters >= 1, "filters must be positive");
  require(config.channels >= 1, "at least 1 image channel is needed");
  require(config.norm_momentum >= 0 && config.norm_momentum < 1,
          "the momentum of the running statistics must be at least 0 and below 1, got " + std::to_string(config.norm_momentum));
  const std::int64_t least = first_class(config) + 1;
  require(config.classes >= least, "at least " + std::to_string(least) + " classes are needed" +
                                       (least == 2 ? " (background included)" : "") + ", got " + std::to_string(config.classes));
  require(options.size.rank() == 2, "the size " + to_string(options.size) + " should have 2 axes, H and W");
  for (auto extent : options.size) require(extent > 0, "the size " + to_string(options.size) + " has an extent below 1");
  require(options.batch > 0, "the batch must be positive, got " + std::to_string(options.batch));
  require(options.norm_replicas > 0 && options.batch % options.norm_replicas == 0,
          "a batch of " + std::to_string(options.batch) + " cannot be shared by " +
              std::to_string(options.norm_replicas) + " replicas evenly");
}

struct Head {
  std::string name;
  std::int64_t outputs = 1;
  double deviation = kHeadDeviation;  // of the last kernel
  double bias = 0;
};

ValueId apply_head(Layers& layers, const Head& head, ValueId x, std::int64_t filters, const std::string& level) {
  for (int i = 0; i < kHeadConvolutions; ++i) {
    const std::string shared = head.name + "/conv" + std::to_string(i), name = shared + "/" + level;
    x = layers.conv(x, {.name = name,
                        .filters = filters,
                        .kernel_begins = initial::Normal{kHeadDeviation},
                        .weights = shared});
    x = layers.norm_activation(x, name);
  }
  const std::string shared = head.name + "/predict";
  return layers.conv(x, {.name = shared + "/" + level,
                         .filters = head.outputs,
                         .f32_result = true,
                         .kernel_begins = initial::Normal{head.deviation},
                         .bias_begins = initial::Constant{head.bias},
                         .weights = shared});
}

/// What the loss of one level reads.
struct LevelValues {
  ValueId logits, class_targets, boxes, box_targets;
  std::vector<ValueId> list() const { return {logits, class_targets, boxes, box_targets}; }
};

/// Targets are cut as what they are held against.
LevelValues with_targets(Builder& b, ValueId logits, ValueId boxes, std::int64_t classes, int level) {
  Shape shape = b.type(boxes).shape;
  const std::string name = "_targets/" + std::to_string(level);
  const ValueId box_targets = b.input("box" + name, {DType::kF32, shape}, input::BoxTargets{.level = level});
  shape[shape.rank() - 1] /= 4;
  const ValueId class_targets =
      b.input("class" + name, {DType::kI32, shape}, input::ClassTargets{.level = level, .classes = classes});
  b.graph().follow(box_targets, boxes);
  b.graph().follow(class_targets, logits);
  return {logits, class_targets, boxes, box_targets};
}

void add_loss(Builder& b, const std::vector<LevelValues>& levels, const DetectionOptions& options) {
  const DetectionAttrs attrs{.groups = options.norm_replicas,
                             .batch = options.batch,
                             .box_weight = kBoxWeight,
                             .alpha = kAlpha,
                             .gamma = kGamma,
                             .delta = kDelta,
                             .dtype = options.dtype};
  ValueId sums = kNoValue;
  std::vector<ValueId> inputs{kNoValue};
  for (const LevelValues& level : levels) {
    const std::string name = "loss/sums/" + b.graph().node(level.logits).name;
    const ValueId more = b.op("detection_sums", level.list(), attrs, name);
    sums = sums == kNoValue ? more : b.op("add", {sums, more}, {}, name + "/total");
    for (ValueId value : level.list()) inputs.push_back(value);
  }
  inputs[0] = sums;
  b.graph().outputs["loss_sums"] = sums;
  b.graph().outputs["loss"] = b.op("detection_loss", inputs, attrs, "loss");
}

}  // namespace

AnchorOptions anchor_options(const RetinaNetConfig& config) {
  AnchorOptions options;
  if (config.variant == RetinaNetVariant::kLegacy) options.aspects = {{1, 1}, {0.7, 1.4}, {1.4, 0.7}};
  return options;
}

std::int64_t first_class(const RetinaNetConfig& config) { return config.variant == RetinaNetVariant::kDetection ? 1 : 0; }

PostprocessOptions postprocess_options(const RetinaNetConfig& config) {
  return config.variant == RetinaNetVariant::kLegacy ? legacy_evaluation_postprocess() : detection_postprocess();
}

Graph build_retinanet(const RetinaNetConfig& config, const DetectionOptions& options, const OpTable& ops) {
  check(config, options);
  Graph graph;
  Builder b(graph, ops);
  const NormOptions norm{.replicas = options.norm_replicas, .momentum = config.norm_momentum, .epsilon = kEpsilon};
  Layers layers(b, {.dtype = options.dtype, .training = options.training, .norm = norm});
  const ValueId image = b.input("image", {options.dtype, {options.batch, options.size[0], options.size[1], config.channels}}, input::Image{});
  const std::vector<ValueId> groups = resnet(layers, {.backbone = config.backbone, .filters = config.filters}, image);
  const std::vector<ValueId> pyramid = feature_pyramid(layers, {groups[1], groups[2], groups[3]}, config.pyramid_filters);

  const std::int64_t anchors = anchor_options(config).per_cell();
  const double deviation = config.variant == RetinaNetVariant::kLegacy ? kHeadDeviation : 1e-5;
  const Head class_head{"class_head", anchors * config.classes, deviation, -std::log((1 - kFirstScore) / kFirstScore)};
  const Head box_head{"box_head", anchors * 4, deviation};
  std::vector<LevelValues> levels;
  for (int l = kLastLevel; l >= kFirstLevel; --l) {  // the backward pass then begins with the widest level and lets go of it
    const std::string level = std::to_string(l);
    const ValueId features = pyramid[static_cast<std::size_t>(l - kFirstLevel)];
    const ValueId logits = apply_head(layers, class_head, features, config.pyramid_filters, "p" + level);
    const ValueId boxes = apply_head(layers, box_head, features, config.pyramid_filters, "p" + level);
    graph.outputs["class_logits/" + level] = logits;
    graph.outputs["boxes/" + level] = boxes;
    if (options.training) levels.push_back(with_targets(b, logits, boxes, config.classes, l));
  }
  if (!options.training) return graph;
  add_loss(b, levels, options);
  return graph;
}

std::vector<std::string> target_inputs() {
  std::vector<std::string> names;
  for (const char* name : {"box_targets/", "class_targets/"})
    for (int level = kFirstLevel; level <= kLastLevel; ++level) names.push_back(name + std::to_string(level));
  return names;
}

}  // namespace voxshard
