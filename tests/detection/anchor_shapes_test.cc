// Shapes fitted to boxes: the mean best IoU by hand, fits that overlap more than the reference, their text.
#include "libcore/detection/anchor_shapes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "libcore/base/rng.h"
#include "libcore/models/retinanet.h"
#include "tests/expect_error.h"

namespace voxshard {
namespace {

bool same(const std::vector<Aspect>& a, const std::vector<Aspect>& b) {
  return std::ranges::equal(
      a, b, [](const Aspect& x, const Aspect& y) { return x.height == y.height && x.width == y.width; });
}

/// Boxes around that size, each side up to `spread` times longer or shorter.
std::vector<Aspect> boxes_around(const Aspect& size, double spread, std::uint64_t count, std::uint64_t seed) {
  std::vector<Aspect> boxes;
  const RngKey key{.seed = seed, .stream = 1};
  for (std::uint64_t i = 0; i < count; ++i)
    boxes.push_back({size.height * std::pow(spread, 2 * rng_uniform(key, 2 * i) - 1),
                     size.width * std::pow(spread, 2 * rng_uniform(key, 2 * i + 1) - 1)});
  return boxes;
}

TEST(AnchorShapes, TheMeanBestIouByHand) {
  EXPECT_EQ(mean_best_iou({}, {}), 0);
  const std::vector<Aspect> as_an_anchor = {{64, 64}}, half_as_high = {{16, 32}}, both = {{64, 64}, {16, 32}};
  AnchorOptions square{.scales = 1, .aspects = {{1, 1}}};  // 32, 64, ..., 512
  EXPECT_DOUBLE_EQ(mean_best_iou(as_an_anchor, square), 1);
  EXPECT_DOUBLE_EQ(mean_best_iou(half_as_high, square), 0.5);
  EXPECT_DOUBLE_EQ(mean_best_iou(both, square), 0.75);
  square.shapes = {{2, 4}};  // 16 x 32 on level 3
  EXPECT_DOUBLE_EQ(mean_best_iou(half_as_high, square), 1);
}

TEST(AnchorShapes, ShapesTakeThePlaceOfScalesAndAspectsOnEveryLevel) {
  const auto levels = anchor_levels({640, 480}, {.shapes = {{2, 4}, {6, 3}}});
  for (const AnchorLevel& level : levels) {
    ASSERT_EQ(level.per_cell(), 2);
    const auto stride = static_cast<double>(level.stride);
    EXPECT_EQ(level.box(1, 2, 1).height(), 6 * stride);
    EXPECT_EQ(level.box(1, 2, 1).width(), 3 * stride);
  }
  EXPECT_EQ(levels[1].first, 80 * 60 * 2);
}

TEST(AnchorShapes, FitsOverlapMoreThanTheReference) {
  struct Set {
    const char* what;
    Aspect size;
    double spread, least;  // of the mean best IoU
  };
  const AnchorOptions reference;
  for (const Set& set : {Set{"flat boxes", {20, 120}, 1.2, 0.85}, Set{"of one size", {81, 108}, 1.01, 0.93},
                         Set{"smaller than any anchor of the reference", {9, 12}, 1.3, 0.85},
                         Set{"of many sizes", {150, 50}, 2, 0.75}, Set{"larger than any", {1500, 900}, 1.1, 0.9}}) {
    const std::vector<Aspect> boxes = boxes_around(set.size, set.spread, 200, 3);
    AnchorOptions fitted = reference;
    fitted.shapes = fitted_shapes(boxes, reference);
    ASSERT_EQ(fitted.per_cell(), 9) << set.what;
    const double before = mean_best_iou(boxes, reference), after = mean_best_iou(boxes, fitted);
    EXPECT_GT(after, before) << set.what;
    EXPECT_GT(after, set.least) << set.what << ", the reference: " << before;
  }
}

TEST(AnchorShapes, BoxesThatVaryMoreThanThoseOfTheFitAreStillOverlapped) {
  AnchorOptions fitted;
  fitted.shapes = fitted_shapes(boxes_around({81, 108}, 1.01, 50, 1), {});
  EXPECT_GT(mean_best_iou(boxes_around({81, 108}, 1.25, 200, 2), fitted), 0.87);
}

TEST(AnchorShapes, DependOnTheSizesAloneNotOnTheirOrder) {
  std::vector<Aspect> boxes = boxes_around({60, 90}, 1.6, 1200, 5);  // more than are looked at
  const std::vector<Aspect> shapes = fitted_shapes(boxes, {});
  std::ranges::reverse(boxes);
  EXPECT_TRUE(same(fitted_shapes(boxes, {}), shapes));
  EXPECT_FALSE(same(fitted_shapes(boxes_around({30, 90}, 1.6, 1200, 5), {}), shapes));
}

TEST(AnchorShapes, WithoutBoxesAreThoseOfTheReference) {
  const std::vector<Aspect> shapes = fitted_shapes({}, {});
  ASSERT_EQ(shapes.size(), 9u);
  EXPECT_DOUBLE_EQ(shapes[0].height, 4);
  EXPECT_DOUBLE_EQ(shapes[3].width, 4 * std::exp2(1.0 / 3));
}

TEST(AnchorShapes, TextIsReadBackToTheBit) {
  const std::vector<Aspect> shapes = fitted_shapes(boxes_around({20, 120}, 1.5, 100, 7), {});
  EXPECT_TRUE(same(shapes_from_text(shapes_text(shapes), 9), shapes)) << shapes_text(shapes);
  const std::vector<Aspect> two = shapes_from_text("4x5.25,0.01x1000", 2);
  EXPECT_TRUE(same(two, {{4, 5.25}, {0.01, 1000}}));
}

TEST(AnchorShapes, OtherTextsAreRefused) {
  for (const char* text : {"", "4x4", "4x4,4x4,4x4", "4x4,4", "4x4,4x", "4x4;4x4", "4x4,4x4 ", " 4x4,4x4", "4x4,-4x4",
                           "4x4,4x0", "4x4,4xnan", "4x4,4xinf", "4x4,4x1001", "4x4,4x1e2", "0x4,4x4"})
    expect_error(ErrorKind::kConfig, "expected 2 shapes HxW", [&] { shapes_from_text(text, 2); });
}

TEST(AnchorShapes, OfRetinaNetAreNineOrAWord) {
  RetinaNetConfig config;
  config.anchors = "1x1,2x2,3x3,4x4,5x5,6x6,7x7,8x8,9x9";
  EXPECT_EQ(anchor_options(config).per_cell(), 9);
  EXPECT_EQ(anchor_options(config).shapes[4].height, 5);
  for (const char* word : {"reference", kFittedAnchors}) {
    config.anchors = word;
    EXPECT_TRUE(anchor_options(config).shapes.empty()) << "until they are fitted, the variant's";
  }
  std::any stored = config;
  for (const ConfigField& field : retinanet().fields)
    if (field.name == kAnchorsField)
      for (const char* wrong : {"refernce", "1x1,2x2", "1x1,2x2,3x3,4x4,5x5,6x6,7x7,8x8,9x9,10x10"})
        expect_error(ErrorKind::kConfig, wrong, [&] { field.set(stored, std::string(wrong)); });
}

}  // namespace
}  // namespace voxshard
