// The text form of a graph and its parser: what is written is read back, text written by hand may be shorter, and
// anything else is refused with its line.
#include "libcore/graph/text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "libcore/base/rng.h"
#include "libcore/graph/autodiff.h"
#include "libcore/graph/recompute.h"
#include "libcore/models/retinanet.h"
#include "libcore/models/unet.h"
#include "libcore/ops/op_table.h"
#include "tests/expect_error.h"

namespace voxshard {
namespace {

Graph parsed(std::string_view text) { return parse_graph(text, op_table()); }

constexpr std::string_view kSmall =
    "%0 x = input : f32[1x4x4x2]\n"
    "%1 w = parameter begins=normal:0.01 decays=true : f32[2x2x2x3]\n"
    "%2 y = conv %0, %1 kernel=2x2 stride=1x1 dilation=1x1 pad=0x0/0x0 : f32[1x3x3x3]\n"
    "%3 z = leaky_relu %2 slope=0.5 : f32[1x3x3x3]\n"
    "%4 sum = sum_all %3 : f64[1]\n"
    "%5 grad/sum = one_like %4 : f64[1]\n"
    "%6 grad/sum.1 = broadcast_like %5, %3 follows %3 : f32[1x3x3x3]\n"
    "%7 grad/z = leaky_relu_grad %2, %6 slope=0.5 follows %2 : f32[1x3x3x3]\n"
    "%8 grad/y/weights = conv_weight_grad %0, %7 kernel=2x2 stride=1x1 dilation=1x1 pad=0x0/0x0 : f32[2x2x2x3]\n"
    "output loss = %4\n"
    "gradient w = %8\n"
    "backward %5\n";

constexpr std::string_view kSmallByHand = R"(
  # a loss of a convolution
  x = input : f32[1x4x4x2]
  w = parameter begins=normal:0.01 decays=true : f32[2x2x2x3]
  y = conv %x, %w kernel=2x2
  z = leaky_relu %y slope=0.5
  sum = sum_all %z
  output loss = %sum
)";

TEST(GraphText, IsStable) {
  Graph graph = parsed(kSmallByHand);
  Builder b(graph, op_table());
  differentiate(b, graph.outputs.at("loss"));
  EXPECT_EQ(to_text(graph), kSmall);
}

TEST(GraphText, InputsSayWhatTheyHold) {
  const std::string text =
      "%0 x = input image : f32[1x4x4x2]\n"
      "%1 y = input labels classes=3 : i32[1x4x4x1]\n"
      "%2 c = input class_targets level=3 classes=2 ignored=-7 : i32[1x1x1x9]\n"
      "%3 b = input box_targets level=3 : f32[1x1x1x36]\n"
      "%4 l = input labels classes=3 merged=1 : i32[1x4x4x1]\n"
      "%5 k = input known : i32[1x3]\n";
  const Graph graph = parsed(text);
  EXPECT_EQ(graph.node(1).input, InputInfo(input::Labels{.classes = 3, .ignored = -1}));
  EXPECT_EQ(graph.node(2).input, InputInfo(input::ClassTargets{.level = 3, .classes = 2, .ignored = -7}));
  EXPECT_EQ(graph.node(4).input, InputInfo(input::Labels{.classes = 3, .merged = 1}));
  EXPECT_EQ(graph.node(5).input, InputInfo(input::Known{}));
  EXPECT_EQ(to_text(graph), text);
}

TEST(GraphText, ByHandLessIsEnough) {
  Graph graph;
  Builder b(graph, op_table());
  const ValueId x = b.input("x", {DType::kF32, {1, 4, 4, 2}});
  const ValueId w = b.parameter("w", {DType::kF32, {2, 2, 2, 3}}, {.begins = initial::Normal{0.01}, .decays = true});
  const ValueId y = b.op("conv", {x, w}, ConvAttrs{.window = {{2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}}, "y");
  graph.outputs["loss"] = b.op("sum_all", {b.op("leaky_relu", {y}, ActivationAttrs{.slope = 0.5}, "z")}, {}, "sum");
  EXPECT_EQ(parsed(kSmallByHand), graph);
}

void expect_reads_back(const Graph& graph) {
  const Graph again = parsed(to_text(graph));
  EXPECT_EQ(again, graph) << to_text(graph);
  EXPECT_EQ(to_text(again), to_text(graph));
}

TEST(GraphText, EveryModelReadsBack) {
  for (bool training : {true, false})
    for (DType dtype : {DType::kF32, DType::kBF16}) {
      for (NormKind norm : {NormKind::kBatch, NormKind::kInstance, NormKind::kNone})
        expect_reads_back(build_unet(
            {.base_filters = 4, .depth = 3, .norm = norm, .slope = 0.01, .deconvolution = norm != NormKind::kNone},
            {.batch = 2, .size = {9, 8, 13}, .dtype = dtype, .training = training, .norm_replicas = 2}, op_table()));
      for (RetinaNetVariant variant : {RetinaNetVariant::kDetection, RetinaNetVariant::kLegacy})
        expect_reads_back(build_retinanet(
            {.backbone = Backbone::kResNet18, .variant = variant, .classes = 3, .filters = 8, .pyramid_filters = 8},
            {.batch = 2, .size = {70, 66}, .dtype = dtype, .training = training}, op_table()));
    }
}

TEST(GraphText, RecomputationReadsBack) {
  const Graph graph = build_unet({.base_filters = 4, .depth = 3}, {.size = {32, 24}}, op_table());
  for (Recompute choice : kRecomputeChoices) expect_reads_back(with_recomputation(graph, op_table(), choice));
}

/// Returns a random graph with ops of every family: the seed gives sizes, windows, slopes and initial values.
Graph random_graph(std::uint64_t seed) {
  std::uint64_t draw = 0;
  auto below = [&](std::int64_t n) { return rng_below({seed, 1}, draw++, n); };
  auto real = [&] { return rng_normal({seed, 2}, draw++) * std::pow(10.0, static_cast<double>(below(40) - 20)); };
  Graph graph;
  Builder b(graph, op_table());
  const int spatial = 2 + static_cast<int>(below(2));
  const DType dtype = below(2) == 0 ? DType::kF32 : DType::kBF16;
  Shape image{1 + below(3)};
  for (int a = 0; a < spatial; ++a) image.push_back(2 + below(9));
  image.push_back(1 + below(4));
  ValueId x = b.input("image", {dtype, image});
  auto window = [&](std::int64_t kernel, std::int64_t stride) {
    Window w{Dims::filled(spatial, kernel), Dims::filled(spatial, stride), Dims::filled(spatial, 1 + below(2)), {}, {}};
    set_same_padding(w, b.type(x).shape);
    return w;
  };
  auto begins = [&]() -> Initial {
    switch (below(4)) {
      case 0:
        return initial::Constant{real()};
      case 1:
        return initial::Normal{real()};
      case 2:
        return initial::VarianceScaling{real()};
      default:
        return initial::GlorotUniform{};
    }
  };
  for (int i = 0; i < 12; ++i) {
    const Shape shape = b.type(x).shape;
    const std::string name = "layer" + std::to_string(i);
    switch (below(8)) {
      case 0: {
        Shape weights = Dims::filled(spatial, 3);
        weights.push_back(shape.back());
        weights.push_back(1 + below(5));
        const ValueId w = b.parameter(name + "/kernel", {dtype, weights},
                                      {.begins = begins(), .decays = below(2) == 0, .frozen = below(4) == 0});
        x = b.op("conv", {x, w}, ConvAttrs{.window = window(3, 1 + below(2)), .dtype = dtype}, name);
        break;
      }
      case 1:
        x = b.op("leaky_relu", {x}, ActivationAttrs{.slope = real()}, name);
        break;
      case 2:
        x = b.op("scale", {x}, ScaleAttrs{.by = real()}, name);
        break;
      case 3:
        x = b.op(below(2) == 0 ? "max_pool" : "avg_pool", {x}, PoolAttrs{.window = window(2, 1)}, name);
        break;
      case 4:
        x = b.op("concat", {x, x}, ConcatAttrs{.axis = static_cast<int>(below(spatial + 2))}, name);
        break;
      case 5: {
        Shape part = shape;
        const int axis = static_cast<int>(below(spatial + 2));
        part[axis] = 1 + below(shape[axis]);
        b.op("slice", {x}, SliceAttrs{.axis = axis, .first = below(shape[axis] - part[axis] + 1), .shape = part},
             name);  // aside: no gradient
        break;
      }
      case 6: {
        const NormAttrs norm{
            .groups = shape[0], .batch = shape[0], .count = real(), .epsilon = real(), .slope = real()};
        const ValueId sums = b.op("moment_sums", {x}, norm, name + "/sums"),
                      stats = b.op("norm_stats", {sums}, norm, name + "/stats");
        const TensorType channels{DType::kF32, {shape.back()}};
        const ValueId gamma = b.parameter(name + "/gamma", channels, {begins()}),
                      beta = b.parameter(name + "/beta", channels);
        const ValueId moments = b.state(name + "/moments", {DType::kF32, {shape.back(), 2}}, initial::UnitMoments{});
        const ValueId now = b.op("group_moments", {sums}, norm, name + "/now");
        graph.effects.emplace_back(moments,
                                   b.op("lerp", {moments, now}, LerpAttrs{.momentum = real()}, name + "/next"));
        x = b.op("norm_apply", {x, stats, gamma, beta}, norm, name);
        break;
      }
      default: {
        Shape wide = shape;
        for (int a = 1; a <= spatial; ++a) wide[a] = std::min<std::int64_t>(30, 2 * shape[a] - below(2));
        bool fits = true;
        for (int a = 1; a <= spatial; ++a) fits = fits && ceil_div(wide[a], 2) == shape[a];
        if (fits)
          x = b.op("upsample_nearest", {x}, ResizeAttrs{.factor = Dims::filled(spatial, 2), .shape = wide}, name);
      }
    }
  }
  x = b.op("leaky_relu", {x}, {}, "last");
  Shape labels = b.type(x).shape;
  labels[labels.axes() - 1] = 1;
  const ValueId y = b.input("labels", {DType::kI32, labels});
  const SegmentationAttrs loss{.loss = kLosses[below(std::size(kLosses))], .batch = labels[0], .dtype = dtype};
  std::vector<ValueId> compared = {x, y};
  if (below(2) == 1)
    compared.push_back(b.input("known", {DType::kI32, {labels[0], b.type(x).shape.back()}}, input::Known{}));
  const ValueId sums = b.op("segmentation_sums", compared, loss, "loss/sums");
  compared.insert(compared.begin(), sums);
  graph.outputs["loss"] = b.op("segmentation_loss", compared, loss, "loss");
  differentiate(b, graph.outputs["loss"]);
  return graph;
}

TEST(GraphText, RandomGraphsReadBack) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_reads_back(random_graph(seed));
  }
}

TEST(GraphText, NumbersReadBackToTheBit) {
  for (double by : {0.1, 1.0 / 3, -0.0, 1e-300, 4.9e-324, 1.7976931348623157e308, 123456789.123456789}) {
    Graph graph = parsed("x = input : f32[4]\n");
    Builder(graph, op_table()).op("scale", {0}, ScaleAttrs{.by = by}, "y");
    const double read = attrs_of<ScaleAttrs>(parsed(to_text(graph)).node(1).attrs).by;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(read), std::bit_cast<std::uint64_t>(by)) << by;
  }
}

struct Wrong {
  std::string_view text, piece;
};

TEST(ParseGraph, RefusesWithTheLineAndWhatIsWrong) {
  for (const Wrong& wrong : {
           Wrong{"x = input\n", "line 1: expected :"},
           Wrong{"x = input : f16[4]\n", "expected a type: f32, bf16, f64, i32 or u8"},
           Wrong{"x = input : f32[scalar]\n", "expected at least one axis"},
           Wrong{"x = input : f32[1x1x1x1x1x1x1]\n", "at most 6 axes"},
           Wrong{"x = input : f32[1000000000000x1000000]\n", "are too large"},
           Wrong{"x = input : f32[4] f32[4]\n", "expected nothing more"},
           Wrong{"x = input : f32[4]\n\n# two\nx = input : f32[4]\n", "line 4: a value is named x already"},
           Wrong{"%1 x = input : f32[4]\n", "expected the id %0"},
           Wrong{"y = scale %0\n", "the value %0 is not defined before"},
           Wrong{"y = scale %99999999999999999999\n", "is not defined before"},
           Wrong{"y = scale %x\n", "no value is named x"},
           Wrong{"x = input : f32[4]\ny = double %x\n", "line 2: no op is named double"},
           Wrong{"x = input : f32[4]\ny = scale %x slope=2\n", "scale has no attribute slope; it has by"},
           Wrong{"x = input : f32[4]\ny = add %x, %x by=2\n", "add has no attribute by; it has none"},
           Wrong{"x = input : f32[4]\ny = scale %x by=two\n", "expected a number"},
           Wrong{"x = input : f32[4]\ny = scale %x by\n", "expected name=value"},
           Wrong{"x = input : f32[4]\ny = add %x\n", "expected two inputs"},
           Wrong{"x = input : f32[4]\ny = scale\n", "expected one input"},
           Wrong{"x = input : f32[4]\ny = scale %x : f32[5]\n", "the result is f32[4]"},
           Wrong{"x = input : f32[1x4x4x1]\ny = max_pool %x kernel=2x0\n", "too small or too large"},
           Wrong{"x = input : f32[1x4x4x1]\ny = max_pool %x kernel=2x2 stride=2\n", "as many entries as the kernel"},
           Wrong{"w = parameter begins=ones : f32[4]\n", "expected how it begins"},
           Wrong{"w = parameter begins=normal : f32[4]\n", "expected a number"},
           Wrong{"output y = %0\n", "line 1: the value %0 is not defined before"},
           Wrong{"x = input : f32[4]\noutput y = %0\noutput y = %0\n", "line 3: the output is named twice"},
           Wrong{"x = input : f32[4]\ngradient w = %0\n", "no value is named w"},
           Wrong{"w = parameter : f32[4]\nx = input : f32[5]\ngradient w = %x\n", "gradient of w has another shape"},
           Wrong{"x = input : f32[4]\neffect x = %0\n", "expected <-"},
           Wrong{"backward\n", "expected %"},
       }) {
    expect_error(ErrorKind::kConfig, std::string(wrong.piece), [&] { parsed(wrong.text); });
  }
}

// A changed text is a valid graph or is refused: nothing else is thrown, nothing is read out of range.
TEST(ParseGraph, AChangedTextIsAGraphOrAConfigError) {
  constexpr std::uint64_t kSeed = 3;
  constexpr std::string_view kPieces[] = {"%",   "0",   "9",     "-1",           "x",    "1x", "=",
                                          ":",   ",",   " ",     "\n",           "[",    "]",  "conv",
                                          "sum", "f32", "1e400", "999999999999", "grad/"};
  const std::string texts[] = {std::string(kSmall),
                               to_text(build_unet({.base_filters = 2, .depth = 2}, {.size = {4, 4}}, op_table()))};
  int graphs = 0;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    std::uint64_t draw = 64 * i;
    auto below = [&](std::size_t n) {
      return static_cast<std::size_t>(rng_below({kSeed, 1}, draw++, static_cast<std::int64_t>(n)));
    };
    std::string text = texts[below(2)];
    for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
      const std::size_t at = below(text.size());
      if (below(2) == 0)
        text.erase(at, 1 + below(8));
      else
        text.insert(at, kPieces[below(std::size(kPieces))]);
    }
    try {
      const Graph graph = parsed(text);
      EXPECT_TRUE(verify(graph, op_table()).empty());
      ++graphs;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kConfig) << "seed " << kSeed << " case " << i << ": " << error.what();
    }
  }
  EXPECT_GT(graphs, 0);
}

}  // namespace
}  // namespace voxshard
