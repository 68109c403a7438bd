#include "libcore/models/retinanet.h"

#include <cmath>

#include "libcore/detection/anchor_shapes.h"
#include "libcore/models/box_loss.h"
#include "libcore/models/fpn.h"

namespace voxshard {
namespace {

constexpr int kHeadConvolutions = 4;
constexpr double kHeadDeviation = 0.01;
constexpr double kFirstScore = 0.01;
constexpr double kRetinaNetEpsilon = 1e-4;  // of all batch norms
constexpr double kAlpha = 0.25, kGamma = 1.5, kDelta = 0.1, kBoxWeight = 50;
/// The weight of GIoU, as mmdetection 3 has it beside a focal loss (configs/gfl).
constexpr double kGiouWeight = 2;
constexpr const char* kReferenceAnchors = "reference";

double box_weight(const RetinaNetConfig& config) {
  return config.box_loss == BoxLossKind::kHuber ? kBoxWeight : kGiouWeight;
}

/// The variant also sets the default number of classes, weight decay and frozen layers; their rows come later and may
/// override them.
ConfigField variant_field() {
  ConfigField row =
      field(&RetinaNetConfig::variant,
            {.name = "variant",
             .help = "detection or legacy: which of the two reference models (anchors, classes, first kernels)",
             .names = {"detection", "legacy"}});
  row.set = [set = row.set](std::any& config, const FieldValue& value) {
    set(config, value);
    auto& c = std::any_cast<RetinaNetConfig&>(config);
    c.classes = 90 + first_class(c);
    const bool legacy = c.variant == RetinaNetVariant::kLegacy;
    c.decay = legacy ? Decay::kAllButBackboneNorms : Decay::kKernels;
    c.frozen = legacy ? Frozen::kStem : Frozen::kNone;
  };
  return row;
}

/// Shapes are read when they are set, so that a wrong text is refused where it is given.
ConfigField anchors_field() {
  ConfigField row =
      field(&RetinaNetConfig::anchors,
            {.name = kAnchorsField,
             .help = "Shapes of the anchors: reference, as the variant has them; fitted to the boxes that "
                     "train; or 9 as HxW,HxW,..., in cells of a level",
             .from_data = kFittedAnchors,
             .newer = true});
  row.set = [set = row.set](std::any& config, const FieldValue& value) {
    std::any next = config;
    set(next, value);
    const auto& changed = std::any_cast<const RetinaNetConfig&>(next);
    const bool is_word = changed.anchors == kReferenceAnchors || changed.anchors == kFittedAnchors;
    if (!is_word && changed.anchors.find('x') == std::string::npos)
      refuse_name("the anchors", changed.anchors, {kReferenceAnchors, kFittedAnchors, "9 shapes HxW,HxW,..."});
    anchor_options(changed);
    config = std::move(next);
  };
  return row;
}

const std::vector<ConfigField>& retinanet_fields() {
  static const std::vector<ConfigField> rows = {
      field(&RetinaNetConfig::backbone, {.name = "backbone",
                                         .help = "resnet50, resnet34 or resnet18",
                                         .names = {"resnet18", "resnet34", "resnet50"}}),
      variant_field(),
      base_filters_field(&RetinaNetConfig::filters),
      field(&RetinaNetConfig::pyramid_filters, {.name = "pyramid_filters",
                                                .help = "Filters of the feature pyramid and the heads",
                                                .least = 1,
                                                .most = 4096}),
      field(&RetinaNetConfig::channels,
            {.name = "channels", .help = "Image channels", .least = 1, .most = 65536, .of_data = true}),
      field(&RetinaNetConfig::classes, {.name = "classes",
                                        .help = "Classes, background included (but for {variant} legacy)",
                                        .most = 65536,
                                        .of_data = true}),
      norm_momentum_field(&RetinaNetConfig::norm_momentum),
      field(&RetinaNetConfig::decay, {.name = "decay_on",
                                      .help = "What {weight-decay} applies to: kernels, or all_but_backbone_norms as "
                                              "in the legacy variant, whose default it is",
                                      .names = {"kernels", "all_but_backbone_norms"},
                                      .shapes = false}),
      field(&RetinaNetConfig::frozen, {.name = "frozen",
                                       .help = "What stays as it begins: none, or stem (the first convolution) as in "
                                               "the legacy variant, whose default it is",
                                       .names = {"none", "stem"},
                                       .shapes = false}),
      anchors_field(),
      field(&RetinaNetConfig::box_loss,
            {.name = "box_loss",
             .help =
                 "What boxes are trained on: huber, of their four numbers, as the reference; giou, the overlap itself",
             .names = {std::begin(kBoxLossNames), std::end(kBoxLossNames)},
             .shapes = false,
             .newer = true}),
      field(&RetinaNetConfig::box_vote,
            {.name = "box_vote",
             .help = "Overlap from which on the likely boxes around a found one decide with it where its sides lie, "
                     "each by its score; 0: the likeliest alone, as the reference",
             .least = 0,
             .most = 1,
             .shapes = false,
             .newer = true})};
  return rows;
}

struct Head {
  std::string name;
  std::int64_t outputs = 1;
  double deviation = kHeadDeviation;  // initial deviation of the last kernel
  double bias = 0;
};

ValueId apply_head(Layers& layers, const Head& head, ValueId x, std::int64_t filters, const std::string& level) {
  for (int i = 0; i < kHeadConvolutions; ++i) {
    const std::string shared = head.name + "/conv" + std::to_string(i), name = shared + "/" + level;
    x = layers.conv(
        x, {.name = name, .filters = filters, .kernel_begins = initial::Normal{kHeadDeviation}, .weights = shared});
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

}  // namespace

AnchorOptions anchor_options(const RetinaNetConfig& config) {
  AnchorOptions options;
  if (config.variant == RetinaNetVariant::kLegacy) options.aspects = {{1, 1}, {0.7, 1.4}, {1.4, 0.7}};
  if (config.anchors != kReferenceAnchors && config.anchors != kFittedAnchors)
    options.shapes = shapes_from_text(config.anchors, options.per_cell());
  return options;
}

std::int64_t first_class(const RetinaNetConfig& config) {
  return config.variant == RetinaNetVariant::kDetection ? 1 : 0;
}

Detector retinanet_detector(const RetinaNetConfig& config) {
  const bool legacy = config.variant == RetinaNetVariant::kLegacy;
  Detector detector = anchor_detector(anchor_options(config), first_class(config),
                                      legacy ? legacy_evaluation_postprocess() : detection_postprocess());
  detector.box_loss = config.box_loss, detector.box_weight = box_weight(config);
  detector.postprocess.vote_iou = config.box_vote;
  return detector;
}

Graph build_retinanet(const RetinaNetConfig& config, const GraphOptions& options, const OpTable& ops) {
  check_graph("retinanet", retinanet_fields(), config, options, 2, 2);
  const std::int64_t least = first_class(config) + 1;
  if (config.classes < least)
    throw Error(ErrorKind::kConfig, "[retinanet] at least " + std::to_string(least) + " classes are needed" +
                                        (least == 2 ? " (background included)" : "") + ", got " +
                                        std::to_string(config.classes));
  Graph graph;
  Builder b(graph, ops);
  const NormOptions norm{
      .replicas = options.norm_replicas, .momentum = config.norm_momentum, .epsilon = kRetinaNetEpsilon};
  LayerOptions layer_options{.dtype = options.dtype, .training = options.training, .norm = norm};
  Layers backbone(b, layer_options);  // the backbone has no biases
  layer_options.biases_decay = layer_options.norms_decay = config.decay == Decay::kAllButBackboneNorms;
  Layers layers(b, layer_options);
  const ValueId image = b.input(
      "image", {options.dtype, {options.batch, options.size[0], options.size[1], config.channels}}, input::Image{});
  const std::vector<ValueId> groups = resnet(
      backbone, {.backbone = config.backbone, .filters = config.filters, .frozen_stem = config.frozen == Frozen::kStem},
      image);
  const std::vector<ValueId> pyramid =
      feature_pyramid(layers, {groups[1], groups[2], groups[3]}, config.pyramid_filters);

  const std::int64_t anchors = anchor_options(config).per_cell();
  const double deviation = config.variant == RetinaNetVariant::kLegacy ? kHeadDeviation : 1e-5;
  const Head class_head{"class_head", anchors * config.classes, deviation, -std::log((1 - kFirstScore) / kFirstScore)};
  const Head box_head{"box_head", anchors * 4, deviation};
  std::vector<BoxLevel> levels;
  for (int l = kLastLevel; l >= kFirstLevel;
       --l) {  // so that the backward pass begins with the widest level and frees it first
    const std::string level = std::to_string(l);
    const ValueId features = pyramid[l - kFirstLevel];
    const ValueId logits = apply_head(layers, class_head, features, config.pyramid_filters, "p" + level);
    const ValueId boxes = apply_head(layers, box_head, features, config.pyramid_filters, "p" + level);
    graph.outputs["class_logits/" + level] = logits;
    graph.outputs["boxes/" + level] = boxes;
    if (options.has_loss()) levels.push_back(with_box_targets(b, logits, boxes, config.classes, l));
  }
  if (!options.has_loss()) return graph;
  add_box_loss(
      b, levels,
      {.alpha = kAlpha, .gamma = kGamma, .delta = kDelta, .kind = config.box_loss, .box_weight = box_weight(config)},
      options);
  return graph;
}

Model retinanet() {
  return {.name = "retinanet",
          .group = "RetinaNet",
          .spatial_axes = 2,
          .data = kBoxes,
          .config = RetinaNetConfig{},
          .fields = retinanet_fields(),
          .build =
              [](const std::any& config, const GraphOptions& options, const OpTable& ops) {
                return build_retinanet(std::any_cast<const RetinaNetConfig&>(config), options, ops);
              },
          .detector =
              [](const std::any& config) { return retinanet_detector(std::any_cast<const RetinaNetConfig&>(config)); },
          .targets = target_inputs({})};
}

}  // namespace voxshard
