// Anchors by hand: where they lie, how they are numbered, what the aspects of both variants are.
#include "libcore/detection/anchors.h"

#include <gtest/gtest.h>

#include "libcore/models/retinanet.h"

namespace voxshard {
namespace {

void expect_box(const PixelBox& box, const PixelBox& expected) {
  EXPECT_NEAR(box.y0, expected.y0, 1e-9);
  EXPECT_NEAR(box.x0, expected.x0, 1e-9);
  EXPECT_NEAR(box.y1, expected.y1, 1e-9);
  EXPECT_NEAR(box.x1, expected.x1, 1e-9);
}

TEST(Anchors, LevelsHalveRoundedUp) {
  const auto levels = anchor_levels({233, 311}, {});
  ASSERT_EQ(levels.size(), 5u);
  const std::int64_t heights[] = {30, 15, 8, 4, 2}, widths[] = {39, 20, 10, 5, 3};
  for (std::size_t l = 0; l < 5; ++l) {
    EXPECT_EQ(levels[l].level, static_cast<int>(l) + 3);
    EXPECT_EQ(levels[l].stride, 8 << l);
    EXPECT_EQ(levels[l].height, heights[l]);
    EXPECT_EQ(levels[l].width, widths[l]);
    EXPECT_EQ(levels[l].per_cell(), 9);
  }
}

TEST(Anchors, TheFirstIsFourCellsWideAroundTheCentreOfItsCell) {
  const auto levels = anchor_levels({640, 480}, {});
  expect_box(levels[0].box(0, 0, 0), {4 - 16, 4 - 16, 4 + 16, 4 + 16});
  expect_box(levels[0].box(2, 5, 0), {20 - 16, 44 - 16, 20 + 16, 44 + 16});
  expect_box(levels[4].box(0, 0, 0), {64 - 256, 64 - 256, 64 + 256, 64 + 256});
}

TEST(Anchors, AspectsOfOneScaleHaveOneArea) {
  const AnchorLevel level = anchor_levels({640, 640}, {})[0];
  for (int scale = 0; scale < 3; ++scale)
    for (int aspect = 0; aspect < 3; ++aspect)
      EXPECT_NEAR(level.box(3, 4, 3 * scale + aspect).area(), std::pow(32 * std::exp2(scale / 3.0), 2), 1e-6);
  const PixelBox wide = level.box(0, 0, 1), high = level.box(0, 0, 2);  // the ratio of width to height is 2, then 1/2
  EXPECT_NEAR(wide.width() / wide.height(), 2, 1e-9);
  EXPECT_NEAR(high.width() / high.height(), 0.5, 1e-9);
}

TEST(Anchors, TheLegacyVariantHasSidesOfSevenAndFourteenTenths) {
  const AnchorLevel level = anchor_levels({640, 640}, anchor_options({.variant = RetinaNetVariant::kLegacy}))[0];
  const PixelBox wide = level.box(0, 0, 1), high = level.box(0, 0, 2);
  EXPECT_NEAR(wide.width(), 1.4 * 32, 1e-9);
  EXPECT_NEAR(wide.height(), 0.7 * 32, 1e-9);
  EXPECT_NEAR(high.width(), 0.7 * 32, 1e-9);
  EXPECT_NEAR(high.height(), 1.4 * 32, 1e-9);
}

TEST(Anchors, NumbersRunOverChannelsThenColumnsThenRowsThenLevels) {
  const auto levels = anchor_levels({64, 48}, {});
  std::int64_t expected = 0;
  for (const AnchorLevel& level : levels)
    for (std::int64_t y = 0; y < level.height; ++y)
      for (std::int64_t x = 0; x < level.width; ++x)
        for (std::int64_t a = 0; a < 9; ++a) ASSERT_EQ(level.number(y, x, a), expected++);
  EXPECT_EQ(expected, 9 * (8 * 6 + 4 * 3 + 2 * 2 + 1 + 1));
}

}  // namespace
}  // namespace voxshard
