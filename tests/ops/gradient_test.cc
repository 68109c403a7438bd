// The gradient rule of every differentiable op, through the graph: x -> op -> loss in f64, differentiated by autodiff,
// run cut over two cores, against central differences of the loss. Relative error <= 1e-6 of the largest entry.
#include <set>

#include "libcore/graph/autodiff.h"
#include "libcore/kernels/loss.h"
#include "tests/ops/op_harness.h"

namespace voxshard {
namespace {

using namespace test;

constexpr DType kReal = DType::kF64;

struct GradientCase {
  std::string op;
  std::string label;
  Shape x;
  /// Parameters that take part besides x: name and shape.
  std::vector<std::pair<std::string, Shape>> parameters;
  /// Builds a value or a scalar loss from x (a cut value that depends on the parameter "x") and those parameters.
  std::function<ValueId(Builder&, ValueId x, const std::vector<ValueId>& parameters)> build;
};

void PrintTo(const GradientCase& c, std::ostream* out) { *out << c.op << " (" << c.label << ")"; }

/// Returns the cross-entropy of the value as logits, which weighs every element differently. A scalar is the loss
/// itself.
ValueId loss_of(Builder& b, ValueId value, LossKind kind = LossKind::kCrossEntropy) {
  const Shape shape = b.type(value).shape;
  if (shape.axes() == 1) return value;
  Shape labels = shape;
  labels[labels.axes() - 1] = 1;
  const ValueId known = b.graph().find("labels");  // made by another loss of the same logits
  const ValueId y = known == kNoValue ? b.input("labels", {DType::kI32, labels}) : known;
  const SegmentationAttrs attrs{.loss = kind, .batch = shape[0], .dtype = kReal};
  const ValueId sums = b.op("segmentation_sums", {value, y}, attrs, "loss/sums");
  return b.op("segmentation_loss", {sums, value, y}, attrs, "loss");
}

class Scene {
 public:
  Scene(const GradientCase& c, const Mesh& mesh) : pool_(1) {
    Graph graph;
    Builder b(graph, op_table());
    // x is a parameter added to a cut input, so that the op sees a cut tensor and the gradient is that of a parameter.
    const ValueId image = b.input("image", {kReal, c.x});
    const ValueId x = b.op("add", {image, b.parameter("x", {kReal, c.x})}, {}, "image+x");
    std::vector<ValueId> others;
    for (const auto& [name, shape] : c.parameters) others.push_back(b.parameter(name, {kReal, shape}));
    graph.outputs["loss"] = loss_of(b, c.build(b, x, others));
    differentiate(b, graph.outputs.at("loss"));
    std::uint64_t stream = 10;
    for (const Node& node : graph.nodes()) {
      if (node.role != Role::kParameter) continue;
      Values values = node.name == "gamma" ? Values::kPositive : Values::kNormal;
      parameters_.emplace(node.name, values_of({node.type, node.role, values, 3}, stream++));
    }
    executable_ = lower(graph, op_table(), {.mesh = mesh}, {.kernels = KernelSet::kReference});
    cores_ = std::make_unique<CoreSet>(executable_, op_table(), parameters_, pool_, transport_);
  }

  double loss() {
    const Graph& graph = executable_.program.graph;
    for (ValueId id = 0; id < graph.size(); ++id) {
      const Node& node = graph.node(id);
      if (node.role != Role::kInput) continue;
      const bool labels = node.name == "labels";
      const Tensor values = values_of({node.type, node.role, labels ? Values::kLabels : Values::kNormal,
                                       static_cast<int>(labels ? c_classes(graph) : 3)},
                                      rng_stream(node.name));
      cores_->feed(id, [&](const TensorView& box) { copy(values.view(), box); });
    }
    cores_->run();
    return load(cores_->replicated(graph.outputs.at("loss")), 0);
  }

  /// Returns max |numeric - analytic| / max |analytic| for one parameter.
  double error(const std::string& name) {
    loss();
    const Graph& graph = executable_.program.graph;
    const auto gradient = graph.gradients.find(graph.find(name));
    if (gradient == graph.gradients.end()) return 1e30;
    const Tensor analytic = cores_->gather(gradient->second);
    auto* values = parameters_.at(name).as<double>();
    constexpr double kStep = 1e-5;
    double worst = 0, scale = 0;
    for (std::int64_t i = 0; i < analytic.count(); ++i) {
      const double kept = values[i];
      values[i] = kept + kStep;
      const double up = loss();
      values[i] = kept - kStep;
      const double down = loss();
      values[i] = kept;
      const double exact = load(analytic.view(), i);
      worst = std::max(worst, std::abs((up - down) / (2 * kStep) - exact));
      scale = std::max(scale, std::abs(exact));
    }
    return scale > 0 ? worst / scale : 1e30;
  }

 private:
  static std::int64_t c_classes(const Graph& graph) {
    ValueId sums = 0;
    while (graph.node(sums).op != "segmentation_sums") ++sums;
    return graph.input_types(sums)[0].shape.back();
  }

  WorkerPool pool_;
  InProcessTransport transport_;
  Parameters parameters_;
  Executable executable_;
  std::unique_ptr<CoreSet> cores_;
};

using Others = const std::vector<ValueId>&;

/// Returns the loss of two levels: x holds the logits of the first, its convolutions give the second and the boxes of
/// both.
ValueId detection_loss_of(Builder& b, ValueId x, Others w, std::int64_t groups,
                          BoxLossKind kind = BoxLossKind::kHuber) {
  const DetectionAttrs attrs{.groups = groups,
                             .batch = 2,
                             .box_weight = 50,
                             .alpha = 0.25,
                             .gamma = 1.5,
                             .delta = 0.5,
                             .box_loss = kind,
                             .dtype = kReal};
  ValueId sums = kNoValue;
  std::vector<ValueId> inputs{kNoValue};
  for (int level : {0, 1}) {
    const std::int64_t stride = level + 1;
    auto conv = [&](ValueId weights) {
      return b.op("conv", {x, weights}, ConvAttrs{.window = same(b.type(x).shape, 1, stride), .dtype = kReal}, "conv");
    };
    const ValueId logits = level == 0 ? x : conv(w[0]), boxes = conv(w[1]);
    Shape targets = b.type(boxes).shape;
    const std::string name = "targets" + std::to_string(level);
    const ValueId box_targets = b.input("box_" + name, {kReal, targets});
    targets[3] = 2;  // anchors of 2 classes; normal numbers as targets: -2 and 2 are ignored
    const ValueId class_targets = b.input("class_" + name, {DType::kI32, targets});
    const ValueId more = b.op("detection_sums", {logits, class_targets, boxes, box_targets}, attrs, "sums");
    sums = sums == kNoValue ? more : b.op("add", {sums, more}, {}, "total");
    for (ValueId value : {logits, class_targets, boxes, box_targets}) inputs.push_back(value);
  }
  inputs[0] = sums;
  return b.op("detection_loss", inputs, attrs, "loss");
}

std::vector<GradientCase> cases() {
  const Shape x{2, 5, 4, 2};
  std::vector<GradientCase> all;
  auto conv = [](Window w) {
    return [w](Builder& b, ValueId v, Others p) {
      return b.op("conv", {v, p[0], p[1]}, ConvAttrs{.window = w, .dtype = kReal}, "y");
    };
  };
  all.push_back({"conv", "kernel 3", x, {{"w", {3, 3, 2, 3}}, {"b", {3}}}, conv(same(x, 3))});
  all.push_back({"conv",
                 "kernel 4 stride 2 unequal padding",
                 x,
                 {{"w", {4, 4, 2, 3}}, {"b", {3}}},
                 conv(window(2, 4, 2, 1, 1, 3))});
  all.push_back({"conv", "kernel 3 dilation 2", x, {{"w", {3, 3, 2, 2}}, {"b", {2}}}, conv(same(x, 3, 1, 2))});
  all.push_back({"conv",
                 "3-D kernel 2 stride 2",
                 {1, 4, 3, 5, 2},
                 {{"w", {2, 2, 2, 2, 3}}, {"b", {3}}},
                 conv(same({1, 4, 3, 5, 2}, 2, 2))});
  all.push_back({"conv_input_grad",
                 "transposed convolution",
                 x,
                 {{"w", {2, 2, 3, 2}}, {"b", {3}}},
                 [](Builder& b, ValueId v, Others p) {
                   Window w = window(2, 2, 2, 1, 0, 0);
                   w.pad_hi = {1, 0};
                   return b.op("conv_input_grad", {v, p[0], p[1]},
                               ConvInputGradAttrs{.window = w, .shape = {2, 9, 8, 3}, .dtype = kReal}, "y");
                 }});
  for (const char* op : {"max_pool", "avg_pool"})
    for (auto [kernel, stride] : {std::pair{2, 2}, std::pair{3, 2}})
      all.push_back(
          {op, std::to_string(kernel) + "/" + std::to_string(stride), x, {}, [=](Builder& b, ValueId v, Others) {
             return b.op(op, {v}, PoolAttrs{.window = same(x, kernel, stride)}, "y");
           }});
  all.push_back({"upsample_nearest", "to 9 x 8", x, {}, [](Builder& b, ValueId v, Others) {
                   return b.op("upsample_nearest", {v}, ResizeAttrs{.factor = {2, 2}, .shape = {2, 9, 8, 2}}, "y");
                 }});
  for (std::int64_t groups : {1, 2})
    all.push_back({"norm_apply",
                   std::to_string(groups) + " groups, leaky",
                   x,
                   {{"gamma", {2}}, {"beta", {2}}},
                   [=](Builder& b, ValueId v, Others p) {
                     const NormAttrs attrs{.groups = groups,
                                           .batch = 2,
                                           .count = static_cast<double>(40 / groups),
                                           .epsilon = 1e-3,
                                           .slope = 0.1,
                                           .dtype = kReal};
                     const ValueId sums = b.op("moment_sums", {v}, attrs, "sums");
                     const ValueId stats = b.op("norm_stats", {sums}, attrs, "stats");
                     return b.op("norm_apply", {v, stats, p[0], p[1]}, attrs, "y");
                   }});
  all.push_back({"leaky_relu", "slope 0.1", x, {}, [](Builder& b, ValueId v, Others) {
                   return b.op("leaky_relu", {v}, ActivationAttrs{.slope = 0.1}, "y");
                 }});
  all.push_back({"add", "x + x", x, {}, [](Builder& b, ValueId v, Others) { return b.op("add", {v, v}, {}, "y"); }});
  all.push_back({"scale", "by 0.3", x, {}, [](Builder& b, ValueId v, Others) {
                   return b.op("scale", {v}, ScaleAttrs{.by = 0.3}, "y");
                 }});
  all.push_back({"convert", "to itself", x, {}, [](Builder& b, ValueId v, Others) {
                   return b.op("convert", {v}, ConvertAttrs{.dtype = kReal}, "y");
                 }});
  all.push_back({"dropout", "a third", x, {}, [](Builder& b, ValueId v, Others) {
                   const ValueId draw = b.input("draw", {DType::kI32, {2}}, input::Draw{});
                   return b.op("dropout", {v, draw}, DropoutAttrs{.rate = 1.0 / 3, .stream = 5}, "y");
                 }});
  all.push_back({"one_like", "x + 1", x, {}, [](Builder& b, ValueId v, Others) {
                   return b.op("add", {v, b.op("one_like", {v}, {}, "one")}, {}, "y");
                 }});
  for (int axis : {1, 3})
    all.push_back({"concat",
                   "with its scaled self along axis " + std::to_string(axis),
                   x,
                   {},
                   [=](Builder& b, ValueId v, Others) {
                     const ValueId twice = b.op("scale", {v}, ScaleAttrs{.by = 2}, "twice");
                     return b.op("concat", {v, twice}, ConcatAttrs{.axis = axis}, "y");
                   }});
  all.push_back(
      {"sum_all", "of a leaky ReLU of a convolution", x, {{"w", {3, 3, 2, 3}}}, [=](Builder& b, ValueId v, Others p) {
         const ValueId y = b.op("conv", {v, p[0]}, ConvAttrs{.window = same(x, 3), .dtype = kReal}, "y");
         return b.op("sum_all", {b.op("leaky_relu", {y}, ActivationAttrs{.slope = 0.1}, "z")}, {}, "sum");
       }});
  for (LossKind kind : kLosses)
    all.push_back({"segmentation_loss",
                   "kind " + std::to_string(static_cast<int>(kind)),
                   {2, 4, 3, 3},
                   {},
                   [=](Builder& b, ValueId v, Others) { return loss_of(b, v, kind); }});
  all.push_back(
      {"segmentation_loss", "two of them, scaled and added", {2, 4, 3, 3}, {}, [=](Builder& b, ValueId v, Others) {
         const ValueId entropy = loss_of(b, v), dice = loss_of(b, v, LossKind::kAdaptiveDice32);
         return b.op("add", {b.op("scale", {entropy}, ScaleAttrs{.by = 0.3}, "part"), dice}, {}, "both");
       }});
  all.push_back({"detection_loss",
                 "scaled",
                 {2, 5, 3, 4},
                 {{"w", {1, 1, 4, 4}}, {"b", {1, 1, 4, 8}}},
                 [=](Builder& b, ValueId v, Others p) {
                   return b.op("scale", {detection_loss_of(b, v, p, 1)}, ScaleAttrs{.by = -0.7}, "scaled");
                 }});
  for (const BoxLossKind kind : {BoxLossKind::kHuber, BoxLossKind::kGiou})
    for (std::int64_t groups : {1, 2})
      all.push_back({"detection_loss",
                     std::to_string(groups) + " groups, " + kBoxLossNames[static_cast<std::size_t>(kind)],
                     {2, 5, 3, 4},
                     {{"w", {1, 1, 4, 4}}, {"b", {1, 1, 4, 8}}},
                     [=](Builder& b, ValueId v, Others p) { return detection_loss_of(b, v, p, groups, kind); }});
  return all;
}

class GradientOf : public testing::TestWithParam<GradientCase> {};

TEST_P(GradientOf, EqualsCentralDifferences) {
  const GradientCase& c = GetParam();
  Dims grid = Dims::filled(c.x.axes(), 1);
  grid[1] = 2;
  Scene scene(c, {.partition = grid});
  EXPECT_LE(scene.error("x"), 1e-6) << "seed " << kOpSeed;
  for (const auto& [name, shape] : c.parameters) EXPECT_LE(scene.error(name), 1e-6) << name << ", seed " << kOpSeed;
}

INSTANTIATE_TEST_SUITE_P(Ops, GradientOf, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.op + "_" + std::to_string(info.index); });

TEST(Gradient, EveryDifferentiableOpIsChecked) {
  std::set<std::string> covered;
  for (const GradientCase& c : cases()) covered.insert(c.op);
  for (const auto& [name, def] : op_table().all()) {
    if (def.differentiate != nullptr) {
      EXPECT_TRUE(covered.contains(name)) << name << " has a gradient rule and no case here";
    }
  }
}

}  // namespace
}  // namespace voxshard
