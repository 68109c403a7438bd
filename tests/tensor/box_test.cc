// The algebra of boxes, as laws over random boxes with negative begins and empty extents; shapes and whole division.
#include "libcore/tensor/box.h"

#include <gtest/gtest.h>

#include "libcore/base/rng.h"

namespace voxshard {
namespace {

constexpr std::uint64_t kSeed = 12;

Box random_box(std::uint64_t i, std::uint64_t stream) {
  Box box;
  for (std::uint64_t a = 0; a < 3; ++a) {
    box.begin.push_back(rng_below({kSeed, stream}, 6 * i + a, 9) - 4);
    box.extent.push_back(rng_below({kSeed, stream}, 6 * i + 3 + a, 6));  // 0: empty in one of two boxes
  }
  return box;
}

/// True when a point lies in a box, by the definition.
bool inside(const Box& box, std::int64_t z, std::int64_t y, std::int64_t x) {
  const std::int64_t at[] = {z, y, x};
  for (int a = 0; a < 3; ++a)
    if (at[a] < box.begin[a] || at[a] >= box.begin[a] + box.extent[a]) return false;
  return true;
}

TEST(Box, IntersectIsTheSetOfCommonPoints) {
  for (std::uint64_t i = 0; i < 300; ++i) {
    const Box a = random_box(i, 1), b = random_box(i, 2), both = intersect(a, b);
    std::int64_t common = 0;
    for (std::int64_t z = -5; z < 11; ++z)
      for (std::int64_t y = -5; y < 11; ++y)
        for (std::int64_t x = -5; x < 11; ++x) {
          const bool in = inside(a, z, y, x) && inside(b, z, y, x);
          common += in;
          ASSERT_EQ(inside(both, z, y, x), in) << "seed " << kSeed << " case " << i;
        }
    EXPECT_EQ(both.count(), common);
    EXPECT_EQ(both.empty(), common == 0);
  }
}

TEST(Box, IntersectAndHullCommuteAndKnowTheirBounds) {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + " case " + std::to_string(i));
    const Box a = random_box(i, 1), b = random_box(i, 2);
    EXPECT_TRUE(intersect(a, b) == intersect(b, a));
    EXPECT_TRUE(hull(a, b) == hull(b, a));
    EXPECT_TRUE(a.contains(intersect(a, b)) && b.contains(intersect(a, b)));
    EXPECT_TRUE(hull(a, b).contains(a) && hull(a, b).contains(b));
    EXPECT_TRUE(intersect(a, hull(a, b)) == a);
    EXPECT_TRUE(hull(a, intersect(a, b)) == a);
    EXPECT_EQ(a.contains(b), intersect(a, b) == b);
  }
}

TEST(Box, TheHullIsTheSmallest) {
  const Box a{{0, 0}, {2, 2}}, b{{5, 1}, {1, 4}};
  EXPECT_TRUE(hull(a, b) == (Box{{0, 0}, {6, 5}}));
  EXPECT_TRUE(hull(a, Box::none(2)) == a);
  EXPECT_TRUE(hull(Box{{7, 7}, {0, 3}}, a) == a) << "an empty box adds nothing, wherever it lies";
}

TEST(Box, AllEmptyBoxesAreAlike) {
  const Box a{{3, 3}, {0, 5}}, b{{-1, 0}, {2, 0}};
  EXPECT_TRUE(a == b);
  EXPECT_TRUE(a == Box::none(2));
  EXPECT_FALSE(a == Box::none(3)) << "with as many axes";
  EXPECT_FALSE(a == (Box{{3, 3}, {1, 5}}));
  EXPECT_EQ(a.count(), 0);
  EXPECT_TRUE((Box{{0, 0}, {1, 1}}).contains(a));
  EXPECT_FALSE(a.contains(Box{{3, 3}, {1, 1}}));
}

TEST(Box, ContainsIsNotFooledByTouchingBoxes) {
  const Box whole = Box::whole({4, 4});
  EXPECT_TRUE(whole.contains(whole));
  EXPECT_FALSE(whole.contains(Box{{0, 1}, {4, 4}}));
  EXPECT_FALSE(whole.contains(Box{{-1, 0}, {2, 2}}));
  EXPECT_TRUE(intersect(whole, Box{{4, 0}, {2, 2}}).empty()) << "a box ends before its end";
}

TEST(Box, SetClampsToEmpty) {
  Box box = Box::whole({4, 4});
  box.set(1, 3, 1);
  EXPECT_TRUE(box.empty());
  EXPECT_EQ(box.extent[1], 0);
}

TEST(Box, TextShowsBeginAndEnd) { EXPECT_EQ(to_string(Box{{0, -1}, {1, 26}}), "[0:1, -1:25]"); }

TEST(Shape, CountsAndPrints) {
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 0, 4}), 0);
  EXPECT_EQ(to_string(Shape{1, 48, 1}), "1x48x1");
  EXPECT_EQ(to_string(Shape{}), "scalar");
}

TEST(Shape, HoldsAtMostSixAxes) { EXPECT_THROW((Dims{1, 2, 3, 4, 5, 6, 7}), Error); }

TEST(Shape, OrdersByRankThenEntries) {
  EXPECT_TRUE((Dims{9} < Dims{1, 1}));
  EXPECT_TRUE((Dims{1, 2} < Dims{1, 3}));
  EXPECT_FALSE((Dims{1, 2} < Dims{1, 2}));
}

TEST(WholeDivision, RoundsTowardsItsSideForNegativesToo) {
  for (std::int64_t a = -20; a <= 20; ++a)
    for (std::int64_t b = 1; b <= 7; ++b) {
      EXPECT_LE(floor_div(a, b) * b, a) << a << " / " << b;
      EXPECT_GT(floor_div(a, b) * b + b, a) << a << " / " << b;
      EXPECT_GE(ceil_div(a, b) * b, a) << a << " / " << b;
      EXPECT_LT(ceil_div(a, b) * b - b, a) << a << " / " << b;
    }
}

}  // namespace
}  // namespace voxshard
