// RetinaNet: the parameters counted by hand, shapes for any size, initial parameters, what is refused.
#include "libcore/models/retinanet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "libcore/graph/autodiff.h"
#include "libcore/graph/builder.h"
#include "libcore/models/unet.h"
#include "libcore/ops/op_table.h"
#include "libcore/partition/program.h"
#include "libcore/train/initialise.h"
#include "tests/expect_error.h"
#include "tests/models/placed_targets.h"

namespace voxshard {
namespace {

Graph training_graph(const RetinaNetConfig& config, const Dims& size, DType dtype = DType::kF32) {
  return with_gradient(build_retinanet(config, {.size = size, .dtype = dtype}, op_table()), op_table());
}

std::int64_t parameters_under(const Graph& graph, const std::string& path) {
  std::int64_t count = 0;
  for (const Node& node : graph.nodes())
    if (node.role == Role::kParameter && node.name.starts_with(path)) count += element_count(node.type.shape);
  return count;
}

TEST(RetinaNet, ParametersOfResNet50AndNinetyOneClassesAreThoseCountedByHand) {
  const Graph graph = training_graph({}, {64, 64});
  // Groups of a bottleneck of base f on c channels: c f + 9 f f + 4 f f weights and 2 (f + f + 4 f) of norms; the first
  // also has a shortcut of 4 c f + 8 f. Stem 3 * 64 * 49 + 128.
  std::int64_t backbone = 3 * 64 * 49 + 128, channels = 64, base = 64;
  for (std::int64_t blocks : {3, 4, 6, 3}) {
    backbone += 4 * channels * base + 8 * base;
    for (std::int64_t b = 0; b < blocks; ++b, channels = 4 * base)
      backbone += channels * base + 13 * base * base + 12 * base;
    base *= 2;
  }
  EXPECT_EQ(backbone, 23'508'032);
  EXPECT_EQ(parameters_under(graph, "backbone/"), backbone);
  constexpr std::int64_t kConv = 9 * 256 * 256 + 256, kNorm = 2 * 256;
  EXPECT_EQ(parameters_under(graph, "fpn/lateral"), (512 + 1024 + 2048) * 256 + 3 * 256);
  EXPECT_EQ(parameters_under(graph, "fpn/"), 918'272 + 5 * (kConv + kNorm));
  EXPECT_EQ(parameters_under(graph, "class_head/"), 4 * kConv + 4 * 5 * kNorm + (9 * 256 + 1) * 9 * 91);
  EXPECT_EQ(parameters_under(graph, "box_head/"), 4 * kConv + 4 * 5 * kNorm + (9 * 256 + 1) * 9 * 4);
  EXPECT_EQ(count_parameters(graph), 34'091'159);
}

TEST(RetinaNet, TheBoxLossIsHuberUnlessGiouIsChosen) {
  RetinaNetConfig config{.backbone = Backbone::kResNet18};
  const auto count = [&](const char* op) {
    return std::ranges::count(training_graph(config, {64, 64}).nodes(), op, &Node::op);
  };
  EXPECT_EQ(count("huber_grad"), 5);
  EXPECT_EQ(count("giou_grad"), 0);
  EXPECT_EQ(retinanet_detector(config).box_weight, 50);
  config.box_loss = BoxLossKind::kGiou;
  EXPECT_EQ(count("huber_grad"), 0);
  EXPECT_EQ(count("giou_grad"), 5);
  EXPECT_EQ(retinanet_detector(config).box_loss, BoxLossKind::kGiou);
  EXPECT_EQ(retinanet_detector(config).box_weight, 2);
}

TEST(RetinaNet, BoxesVoteOnlyWhereTheConfigSaysSo) {
  EXPECT_EQ(retinanet_detector({}).postprocess.vote_iou, 0);
  EXPECT_EQ(retinanet_detector({.variant = RetinaNetVariant::kLegacy}).postprocess.vote_iou, 0);
  EXPECT_EQ(retinanet_detector({.box_vote = 0.7}).postprocess.vote_iou, 0.7);
}

TEST(RetinaNet, ParametersOfTheOtherForms) {
  // ResNet-18: 11,176,512 of the usual form without classifier, and a shortcut of 64 * 64 + 128 in the first group as
  // well.
  EXPECT_EQ(parameters_under(training_graph({.backbone = Backbone::kResNet18}, {32, 32}), "backbone/"),
            11'176'512 + 4'224);
  EXPECT_EQ(parameters_under(training_graph({.backbone = Backbone::kResNet34}, {32, 32}), "backbone/"),
            21'284'672 + 4'224);
  EXPECT_EQ(count_parameters(training_graph({.backbone = Backbone::kResNet18}, {32, 32})), 21'075'735);
  EXPECT_EQ(count_parameters(training_graph({.variant = RetinaNetVariant::kLegacy, .classes = 90}, {32, 32})),
            34'091'159 - (9 * 256 + 1) * 9);
}

TEST(RetinaNet, TheLegacyVariantDecaysAllButTheBackbonesNormsAndLeavesTheStemAsItBegins) {
  const Graph graph = training_graph(
      {.backbone = Backbone::kResNet18, .decay = Decay::kAllButBackboneNorms, .frozen = Frozen::kStem}, {32, 32});
  int kept = 0;
  for (ValueId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if (node.role != Role::kParameter) continue;
    const bool norm = node.name.ends_with("/gamma") || node.name.ends_with("/beta"),
               stem = node.name == "backbone/stem/kernel";
    EXPECT_EQ(node.parameter.decays, !(norm && node.name.starts_with("backbone/"))) << node.name;
    EXPECT_EQ(node.parameter.frozen, stem) << node.name;
    EXPECT_EQ(graph.gradients.contains(id), !stem) << node.name;
    kept += !node.parameter.decays;
  }
  EXPECT_EQ(kept, 2 * (1 + 16 + 4)) << "of the stem, 16 convolutions and 4 shortcuts";
  EXPECT_EQ(graph.find("grad/backbone/stem/weights"), kNoValue);
  const Graph usual = training_graph({.backbone = Backbone::kResNet18}, {32, 32});
  for (const Node& node : usual.nodes())
    EXPECT_EQ(node.parameter.decays, node.role == Role::kParameter && node.name.ends_with("/kernel")) << node.name;
  EXPECT_NE(usual.find("grad/backbone/stem/weights"), kNoValue);
}

const RetinaNetConfig kNarrow{.backbone = Backbone::kResNet18, .classes = 4, .filters = 4, .pyramid_filters = 8};

TEST(RetinaNet, EveryLevelHasCeilOfTheSizeOverItsStride) {
  for (const Dims& size : {Dims{320, 384}, Dims{233, 311}, Dims{1, 7}, Dims{129, 128}}) {
    const Graph graph = training_graph(kNarrow, size);
    EXPECT_TRUE(verify(graph, op_table()).empty()) << to_string(size);
    for (const AnchorLevel& level : anchor_levels(size, {})) {
      const std::string name = std::to_string(level.level);
      auto shape = [&](const std::string& value) { return graph.node(graph.find(value)).type.shape; };
      EXPECT_EQ(graph.node(graph.outputs.at("class_logits/" + name)).type,
                (TensorType{DType::kF32, {1, level.height, level.width, 36}}));
      EXPECT_EQ(graph.node(graph.outputs.at("boxes/" + name)).type,
                (TensorType{DType::kF32, {1, level.height, level.width, 36}}));
      EXPECT_EQ(shape("class_targets/" + name), (Shape{1, level.height, level.width, 9}));
      EXPECT_EQ(shape("box_targets/" + name), (Shape{1, level.height, level.width, 36}));
    }
  }
}

TEST(RetinaNet, WithoutTrainingThereAreNoTargetsAndTheSameParameters) {
  const Graph graph = build_retinanet(kNarrow, {.size = {64, 96}, .training = false}, op_table());
  EXPECT_EQ(graph.outputs.count("loss"), 0u);
  EXPECT_EQ(graph.outputs.size(), 10u);
  for (const Node& node : graph.nodes()) EXPECT_FALSE(node.role == Role::kInput && node.name != "image") << node.name;
  EXPECT_EQ(count_parameters(graph), count_parameters(training_graph(kNarrow, {64, 96})));
}

TEST(RetinaNet, EveryParameterHasAGradientAndEveryNormItsRunningMoments) {
  const Graph graph = training_graph(kNarrow, {64, 96}, DType::kBF16);
  int norms = 0;
  for (ValueId id = 0; id < graph.size(); ++id) {
    if (graph.node(id).role == Role::kParameter) {
      EXPECT_TRUE(graph.gradients.contains(id)) << graph.node(id).name;
    }
    norms += graph.node(id).role == Role::kState ? 1 : 0;
  }
  EXPECT_EQ(graph.effects.size(), static_cast<std::size_t>(norms));
  EXPECT_EQ(norms, 1 + 4 * (1 + 2 * 2) + 5 + 2 * 4 * 5);
}

Window window_at(const Graph& graph, const std::string& name) { return *window_of(graph.node(graph.find(name)).attrs); }

TEST(RetinaNet, StridedConvolutionsOfTheBackbonePadWhateverTheSize) {
  for (const Dims& size : {Dims{64, 64}, Dims{65, 63}}) {
    const Graph graph = training_graph(kNarrow, size);
    const Window& stem = window_at(graph, "backbone/stem");
    EXPECT_EQ(stem.pad_lo, (Dims{3, 3}));
    const Window& group = window_at(graph, "backbone/group3/block0/conv1");
    EXPECT_EQ(group.pad_lo, (Dims{1, 1}));
    const Window& shortcut = window_at(graph, "backbone/group3/block0/shortcut");
    EXPECT_EQ(shortcut.kernel, (Dims{1, 1}));
    EXPECT_EQ(shortcut.stride, (Dims{2, 2}));
    EXPECT_EQ(shortcut.pad_lo, (Dims{0, 0}));
  }
  // The pyramid's windows have SAME padding: an even extent has none at its low side.
  EXPECT_EQ(window_at(training_graph(kNarrow, {128, 128}), "fpn/p6").pad_lo, (Dims{0, 0}));
}

TEST(RetinaNet, TheStrideOfABottleneckIsInItsThreeByThree) {
  const Graph graph = training_graph({.classes = 2, .filters = 4, .pyramid_filters = 4}, {64, 64});
  EXPECT_EQ(window_at(graph, "backbone/group3/block0/conv1").stride, (Dims{1, 1}));
  EXPECT_EQ(window_at(graph, "backbone/group3/block0/conv2").stride, (Dims{2, 2}));
  EXPECT_EQ(window_at(graph, "backbone/group2/block0/conv2").stride, (Dims{1, 1}));
}

double deviation(const Tensor& tensor) {
  double sum = 0, square = 0;
  for (std::int64_t i = 0; i < tensor.count(); ++i)
    sum += tensor.as<float>()[i], square += std::pow(tensor.as<float>()[i], 2);
  const double n = static_cast<double>(tensor.count());
  return std::sqrt(square / n - sum / n * (sum / n));
}

TEST(RetinaNet, ParametersBeginAsTheOriginalSays) {
  const RetinaNetConfig config{.backbone = Backbone::kResNet18, .classes = 4, .filters = 16, .pyramid_filters = 32};
  const Parameters begun = initialise(training_graph(config, {32, 32}), 1);
  auto first = [&](const std::string& name) { return begun.at(name).as<float>()[0]; };
  EXPECT_FLOAT_EQ(first("class_head/predict/bias"), -std::log(99.0F));
  EXPECT_EQ(first("class_head/conv0/bias"), 0);
  EXPECT_EQ(first("box_head/predict/bias"), 0);
  EXPECT_EQ(first("backbone/group2/block0/conv2/norm/gamma"), 0);
  EXPECT_EQ(first("backbone/group2/block0/conv1/norm/gamma"), 1);
  EXPECT_EQ(first("backbone/group2/block0/shortcut/norm/gamma"), 1);
  EXPECT_EQ(first("class_head/conv0/p3/norm/gamma"), 1);
  EXPECT_NEAR(deviation(begun.at("class_head/conv0/kernel")), 0.01, 5e-4);
  EXPECT_NEAR(deviation(begun.at("box_head/predict/kernel")), 1e-5, 5e-7);
  // Variance scaling: variance 1 / (9 * 16), and no value beyond two deviations of the normal that was truncated.
  const Tensor& kernel = begun.at("backbone/group2/block0/conv1/kernel");
  EXPECT_NEAR(deviation(kernel), std::sqrt(1.0 / (9 * 16)), 0.004);
  for (std::int64_t i = 0; i < kernel.count(); ++i)
    ASSERT_LT(std::abs(kernel.as<float>()[i]), 2 / 0.8796 * std::sqrt(1.0 / (9 * 16)));
  RetinaNetConfig legacy = config;
  legacy.variant = RetinaNetVariant::kLegacy;
  EXPECT_NEAR(deviation(initialise(training_graph(legacy, {32, 32}), 1).at("box_head/predict/kernel")), 0.01, 5e-4);
}

void expect_refused(const RetinaNetConfig& config, const GraphOptions& options, const std::string& text) {
  expect_error(ErrorKind::kConfig, text, [&] { build_retinanet(config, options, op_table()); });
}

TEST(RetinaNet, ImpossibleSettingsAreRefused) {
  expect_refused(kNarrow, {.size = {64, 64, 64}}, "should have 2 axes");
  expect_refused(kNarrow, {.size = {64, 0}}, "extent below 1");
  expect_refused(kNarrow, {.batch = 3, .size = {64, 64}, .norm_replicas = 2}, "2 replicas evenly");
  expect_refused({.classes = 1}, {.size = {64, 64}}, "at least 2 classes");
  expect_refused({.variant = RetinaNetVariant::kLegacy, .classes = 0}, {.size = {64, 64}}, "at least 1 classes");
}

TEST(PlacedTargets, AreWholeOnEveryCoreWhereSomeEntryDoesNotDivideTheLevel) {
  const auto cut_levels = [&](const Dims& size, const Dims& partition_dims) {
    const Program program =
        partition(training_graph(kNarrow, size), op_table(),
                  {.mesh = {.partition = partition_dims},
                   .inputs = test::placed_targets({.kind = InputPlacement::Kind::kWhereDivisible})});
    std::string levels;
    for (const AnchorLevel& level : anchor_levels(size, {})) {
      const std::string name = std::to_string(level.level);
      for (const char* kind : {"class_targets/", "box_targets/"}) {
        const ValueId id = program.graph.find(kind + name);
        const Box whole = Box::whole(program.graph.node(id).type.shape);
        const auto& own = program.plan(id).own;
        if (std::none_of(own.begin(), own.end(), [&](const Box& box) { return box == whole; }))
          levels += kind[0] + name;
        else
          EXPECT_EQ(std::count(own.begin(), own.end(), whole), static_cast<std::int64_t>(own.size())) << kind << name;
      }
    }
    return levels;
  };
  // 1536 pixels over 1x4x2x1: levels of 192, 96, 48, 24 and 12 cells are all cut; at 640 those of 10 and 5 are not.
  EXPECT_EQ(cut_levels({1536, 1536}, {1, 4, 2, 1}), "c3b3c4b4c5b5c6b6c7b7");
  EXPECT_EQ(cut_levels({640, 640}, {1, 4, 2, 1}), "c3b3c4b4c5b5");
  EXPECT_EQ(cut_levels({100, 100}, {1, 4, 2, 1}), "c5b5");  // 13, 7, 4, 2 and 1 cells
}

}  // namespace
}  // namespace voxshard
