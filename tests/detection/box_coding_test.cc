// Box coding: decoding inverts coding, codes by hand; IoU by hand.
#include "libcore/detection/box_coding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "libcore/base/rng.h"

namespace voxshard {
namespace {

TEST(Iou, ByHand) {
  const PixelBox a{0, 0, 2, 2};
  EXPECT_DOUBLE_EQ(iou(a, a), 1);
  EXPECT_DOUBLE_EQ(iou(a, {1, 1, 3, 3}), 1.0 / 7);
  EXPECT_DOUBLE_EQ(iou(a, {0, 0, 1, 2}), 0.5);
  EXPECT_DOUBLE_EQ(iou(a, {2, 0, 4, 2}), 0) << "boxes that touch do not overlap";
  EXPECT_DOUBLE_EQ(iou(a, {1, 1, 1, 3}), 0) << "a box without area overlaps nothing";
  EXPECT_DOUBLE_EQ(iou(a, {5, 5, 3, 3}), 0);
}

TEST(BoxCoding, CodesByHand) {
  const PixelBox anchor{10, 20, 30, 60};
  EXPECT_EQ(encode(anchor, anchor), (BoxCode{0, 0, 0, 0}));
  const BoxCode code = encode({15, 30, 55, 50}, anchor);  // centre (35, 40), 40 high, 20 wide
  EXPECT_DOUBLE_EQ(code[0], 15.0 / 20);
  EXPECT_DOUBLE_EQ(code[1], 0);
  EXPECT_DOUBLE_EQ(code[2], std::log(2.0));
  EXPECT_DOUBLE_EQ(code[3], std::log(0.5));
}

TEST(BoxCoding, DecodingInvertsCoding) {
  const RngKey key{.seed = 5};
  for (std::uint64_t i = 0; i < 200; ++i) {
    auto number = [&](std::uint64_t k) { return rng_uniform(key, 8 * i + k); };
    // sides >= 100
    const PixelBox anchor{400 * number(0), 400 * number(1), 500 + 300 * number(2), 500 + 300 * number(3)};
    // at most eight times as high
    const PixelBox box{500 * number(4), 500 * number(5), 501 + 300 * number(6), 501 + 300 * number(7)};
    const PixelBox back = decode(encode(box, anchor), anchor);
    EXPECT_NEAR(back.y0, box.y0, 1e-9) << i;
    EXPECT_NEAR(back.x0, box.x0, 1e-9) << i;
    EXPECT_NEAR(back.y1, box.y1, 1e-9) << i;
    EXPECT_NEAR(back.x1, box.x1, 1e-9) << i;
  }
}

TEST(BoxCoding, SidesGrowByAtMostAThousandSixteenths) {
  const PixelBox box = decode({0, 0, 1000, 3}, {0, 0, 16, 16});
  EXPECT_NEAR(box.height(), 1000, 1e-9);
  EXPECT_NEAR(box.width(), 16 * std::exp(3.0), 1e-9);
}

TEST(BoxCoding, ClippedBoxesLieInTheImage) {
  EXPECT_EQ(clipped({-5, 3, 20, 90}, 10, 60), (PixelBox{0, 3, 10, 60}));
  EXPECT_EQ(clipped({12, 3, 20, 9}, 10, 60).area(), 0);
}

}  // namespace
}  // namespace voxshard
