// The builder: shape errors are kConfig with the name and what is wrong, names are unique, SAME padding by examples.
#include "libcore/graph/builder.h"

#include <gtest/gtest.h>

#include <functional>

#include "libcore/ops/op_table.h"

namespace voxshard {
namespace {

const TensorType kVolume{DType::kF32, {2, 8, 6, 5, 4}};

Window cube(std::int64_t kernel, std::int64_t stride = 1, std::int64_t pad = 0) {
  return {Dims::filled(3, kernel), Dims::filled(3, stride), Dims::filled(3, 1), Dims::filled(3, pad),
          Dims::filled(3, pad)};
}

/// The graph under construction, with an input "x" of kVolume.
struct Scene {
  Graph graph;
  Builder b{graph, op_table()};
  ValueId x = b.input("x", kVolume);
  ValueId parameter(const Shape& shape) {
    return b.parameter("p" + std::to_string(graph.size()), {DType::kF32, shape});
  }
  ValueId input(const Shape& shape, DType dtype = DType::kF32) {
    return b.input("i" + std::to_string(graph.size()), {dtype, shape});
  }
};

struct WrongUse {
  std::string name;
  std::string piece;  // of the text
  std::function<ValueId(Scene&)> build;
};

void PrintTo(const WrongUse& w, std::ostream* out) { *out << w.name; }

class ShapeRule : public testing::TestWithParam<WrongUse> {};

TEST_P(ShapeRule, RefusesWithConfigNamingTheNode) {
  Scene scene;
  try {
    GetParam().build(scene);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.kind(), ErrorKind::kConfig) << text;
    EXPECT_NE(text.find("[here] "), std::string::npos) << text;
    EXPECT_NE(text.find(GetParam().piece), std::string::npos) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ops, ShapeRule,
    testing::Values(
        WrongUse{"conv_channels", "expected input 1 of shape 3x3x3x4x7, got 3x3x3x5x7",
                 [](Scene& s) {
                   return s.b.op("conv", {s.x, s.parameter({3, 3, 3, 5, 7})}, ConvAttrs{.window = cube(3)}, "here");
                 }},
        WrongUse{"conv_bias", "expected input 2 of shape 7, got 8",
                 [](Scene& s) {
                   return s.b.op("conv", {s.x, s.parameter({3, 3, 3, 4, 7}), s.parameter({8})},
                                 ConvAttrs{.window = cube(3)}, "here");
                 }},
        WrongUse{"conv_inputs", "expected x, weights and optionally a bias",
                 [](Scene& s) { return s.b.op("conv", {s.x}, ConvAttrs{.window = cube(3)}, "here"); }},
        WrongUse{"conv_window", "expected a window over 2 or 3 spatial axes, got 0",
                 [](Scene& s) {
                   return s.b.op("conv", {s.x, s.parameter({3, 3, 3, 4, 7})}, {}, "here");
                 }},
        WrongUse{"conv_rank", "expected a tensor of rank 5, got shape 2x8x6x4",
                 [](Scene& s) {
                   return s.b.op("conv", {s.input({2, 8, 6, 4}), s.parameter({3, 3, 3, 4, 7})},
                                 ConvAttrs{.window = cube(3)}, "here");
                 }},
        WrongUse{"conv_stride", "must be positive",
                 [](Scene& s) {
                   return s.b.op("conv", {s.x, s.parameter({3, 3, 3, 4, 7})}, ConvAttrs{.window = cube(3, 0)}, "here");
                 }},
        WrongUse{"transposed_shape", "a window over 2x99x12x10x3 does not give 2x8x6x5x4",
                 [](Scene& s) {
                   return s.b.op("conv_input_grad", {s.x, s.parameter({2, 2, 2, 3, 4})},
                                 ConvInputGradAttrs{.window = cube(2, 2), .shape = {2, 99, 12, 10, 3}}, "here");
                 }},
        WrongUse{"pool_padding", "a window may not lie wholly in the padding",
                 [](Scene& s) { return s.b.op("max_pool", {s.x}, PoolAttrs{.window = cube(2, 2, 2)}, "here"); }},
        WrongUse{"argmax_window", "at most 256 voxels, got 343",
                 [](Scene& s) { return s.b.op("max_pool_argmax", {s.x}, PoolAttrs{.window = cube(7)}, "here"); }},
        WrongUse{"upsample", "cannot up-sample 2x8x6x5x4 to 2x18x12x10x4",
                 [](Scene& s) {
                   return s.b.op("upsample_nearest", {s.x},
                                 ResizeAttrs{.factor = {2, 2, 2}, .shape = {2, 18, 12, 10, 4}}, "here");
                 }},
        WrongUse{"concat", "expected input 1 of shape 2x8x6x5x3, got 2x8x7x5x3",
                 [](Scene& s) {
                   return s.b.op("concat", {s.x, s.input({2, 8, 7, 5, 3})}, ConcatAttrs{.axis = 4}, "here");
                 }},
        WrongUse{"concat_dtype", "one rank and type",
                 [](Scene& s) {
                   return s.b.op("concat", {s.x, s.input(kVolume.shape, DType::kBF16)}, ConcatAttrs{.axis = 4}, "here");
                 }},
        WrongUse{"concat_axis", "one of their axes",
                 [](Scene& s) {
                   return s.b.op("concat", {s.x, s.x}, ConcatAttrs{.axis = 5}, "here");
                 }},
        WrongUse{"slice", "reaches beyond the input",
                 [](Scene& s) {
                   return s.b.op("slice", {s.x}, SliceAttrs{.axis = 4, .first = 2, .shape = {2, 8, 6, 5, 3}}, "here");
                 }},
        WrongUse{"add", "expected input 1 of shape 2x8x6x5x4, got 2x8x6x5x1",
                 [](Scene& s) {
                   return s.b.op("add", {s.x, s.input({2, 8, 6, 5, 1})}, {}, "here");
                 }},
        WrongUse{"norm_groups", "a batch of 2 cannot be cut into 3 equal groups",
                 [](Scene& s) { return s.b.op("moment_sums", {s.x}, NormAttrs{.groups = 3, .batch = 2}, "here"); }},
        WrongUse{"norm_gamma", "expected input 2 of shape 4, got 5",
                 [](Scene& s) {
                   return s.b.op("norm_apply", {s.x, s.parameter({1, 4, 2}), s.parameter({5}), s.parameter({4})}, {},
                                 "here");
                 }},
        WrongUse{"labels_dtype", "expected index labels i32[2x8x6x5x1], got f32[2x8x6x5x1]",
                 [](Scene& s) {
                   return s.b.op("segmentation_sums", {s.x, s.input({2, 8, 6, 5, 1})}, SegmentationAttrs{.batch = 2},
                                 "here");
                 }},
        WrongUse{"broadcast", "expected input 0 of shape 1, got 2",
                 [](Scene& s) {
                   return s.b.op("broadcast_like", {s.parameter({2}), s.x}, {}, "here");
                 }}),
    [](const auto& info) { return info.param.name; });

TEST(Builder, MakesNamesUnique) {
  Scene s;
  const ValueId a = s.b.op("scale", {s.x}, {}, "y"), b = s.b.op("scale", {s.x}, {}, "y"),
                c = s.b.op("scale", {s.x}, {}, "y");
  EXPECT_EQ(s.graph.node(a).name, "y");
  EXPECT_EQ(s.graph.node(b).name, "y.1");
  EXPECT_EQ(s.graph.node(c).name, "y.2");
  EXPECT_EQ(s.graph.find("y.1"), b);
  EXPECT_EQ(s.graph.find("z"), kNoValue);
}

TEST(Builder, TwoParametersOfOneNameAreInternal) {
  Scene s;
  s.b.parameter("w", {DType::kF32, {1}});
  EXPECT_THROW(s.b.parameter("w", {DType::kF32, {1}}), Error);
}

TEST(Builder, InfersTheTypesOfTheResults) {
  Scene s;
  Window w = cube(3, 2);
  set_same_padding(w, kVolume.shape);
  const ValueId y =
      s.b.op("conv", {s.x, s.parameter({3, 3, 3, 4, 7})}, ConvAttrs{.window = w, .dtype = DType::kBF16}, "y");
  EXPECT_EQ(to_string(s.b.type(y)), "bf16[2x4x3x3x7]");
  EXPECT_EQ(to_string(s.b.type(s.b.op("max_pool_argmax", {s.x}, PoolAttrs{.window = cube(2, 2)}, "a"))),
            "u8[2x4x3x2x4]");
  EXPECT_EQ(to_string(s.b.type(s.b.op("sum_all", {s.x}, {}, "s"))), "f64[1]");
}

struct PaddingCase {
  std::int64_t extent, kernel, stride, dilation, output, lo, hi;
};

// TensorFlow's rule: output ceil(extent / stride), the odd voxel of padding goes to the high side.
TEST(SamePadding, FollowsTheRuleOfTheOriginal) {
  for (const PaddingCase& p :
       {PaddingCase{37, 2, 2, 1, 19, 0, 1}, PaddingCase{8, 3, 1, 1, 8, 1, 1}, PaddingCase{8, 3, 2, 1, 4, 0, 1},
        PaddingCase{7, 3, 2, 1, 4, 1, 1}, PaddingCase{224, 7, 2, 1, 112, 2, 3}, PaddingCase{8, 4, 1, 1, 8, 1, 2},
        PaddingCase{8, 2, 1, 1, 8, 0, 1}, PaddingCase{8, 3, 1, 2, 8, 2, 2}, PaddingCase{5, 1, 2, 1, 3, 0, 0},
        PaddingCase{9, 2, 3, 1, 3, 0, 0}, PaddingCase{1, 3, 1, 1, 1, 1, 1}, PaddingCase{8, 2, 2, 1, 4, 0, 0}}) {
    Window w{{p.kernel, 1}, {p.stride, 1}, {p.dilation, 1}, {}, {}};
    set_same_padding(w, {1, p.extent, 5, 1});
    SCOPED_TRACE("extent " + std::to_string(p.extent) + " kernel " + std::to_string(p.kernel) + " stride " +
                 std::to_string(p.stride));
    EXPECT_EQ(w.pad_lo[0], p.lo);
    EXPECT_EQ(w.pad_hi[0], p.hi);
    EXPECT_EQ(w.output_extent(0, p.extent), p.output);
    EXPECT_EQ(w.pad_lo[1], 0);
  }
}

}  // namespace
}  // namespace voxshard
