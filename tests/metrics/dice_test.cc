// Overlap counts on label maps small enough to count by hand.
#include "libcore/metrics/dice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

Tensor labels(Shape shape, const std::vector<std::int32_t>& values) {
  Tensor t(DType::kI32, shape);
  for (std::size_t i = 0; i < values.size(); ++i) t.as<std::int32_t>()[i] = values[i];
  return t;
}

TEST(Dice, CountsByHand) {
  const Tensor mine = labels({1, 2, 4}, {0, 1, 1, 2, 2, 0, 1, 9}), truth = labels({1, 2, 4}, {0, 1, 2, 2, 1, 0, 1, 0});
  const auto c = count_classes(mine.view(), truth.view(), 4);
  EXPECT_EQ(c[0], (ClassCounts{2, 0, 1, 5}));
  EXPECT_EQ(c[1], (ClassCounts{2, 1, 1, 4}));
  EXPECT_EQ(c[2], (ClassCounts{1, 1, 1, 5}));
  EXPECT_EQ(c[3], (ClassCounts{0, 0, 0, 8}));
  EXPECT_DOUBLE_EQ(dice(c[1]), 2.0 / 3);
  EXPECT_DOUBLE_EQ(iou(c[1]), 0.5);
}

TEST(Dice, BothEmptyIsNanAndOneEmptyIsZero) {
  EXPECT_TRUE(std::isnan(dice({0, 0, 0, 8})));
  EXPECT_TRUE(std::isnan(iou({0, 0, 0, 8})));
  EXPECT_EQ(dice({0, 3, 0, 5}), 0);
  EXPECT_EQ(iou({0, 0, 3, 5}), 0);
}

TEST(Dice, CountsOfTheBoxesAddUpToThoseOfTheWhole) {
  Tensor mine(DType::kI32, {5, 6, 7}), truth(DType::kU8, {5, 6, 7});
  for (std::int64_t i = 0; i < mine.count(); ++i) {
    mine.as<std::int32_t>()[i] = static_cast<std::int32_t>(i * 31 % 4);
    truth.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * 17 % 5);
  }
  const auto whole = count_classes(mine.view(), truth.view(), 4);
  std::vector<ClassCounts> sum(4);
  for (const Box& box :
       {Box{{0, 0, 0}, {5, 2, 7}}, Box{{0, 2, 0}, {5, 4, 3}}, Box{{0, 2, 3}, {5, 4, 4}}, Box::none(3)}) {
    const auto part = count_classes(mine.view().sub(box), truth.view().sub(box), 4);
    for (std::size_t k = 0; k < 4; ++k) sum[k] += part[k];
  }
  EXPECT_EQ(sum, whole);
}

TEST(Dice, UnequalExtentsAreRefused) {
  const Tensor a = labels({1, 2, 4}, {}), b = labels({1, 4, 2}, {});
  EXPECT_THROW(count_classes(a.view(), b.view(), 2), Error);
}

TEST(NanMean, LeavesNanOut) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_DOUBLE_EQ(nan_mean({1, nan, 3}), 2);
  EXPECT_TRUE(std::isnan(nan_mean({nan})));
  EXPECT_TRUE(std::isnan(nan_mean({})));
}

TEST(Dice, IgnoredVoxelsCountNowhere) {
  Tensor mine(DType::kI32, {6}), truth(DType::kI32, {6});
  const std::int32_t a[] = {0, 1, 1, 0, 1, 0}, b[] = {0, 1, 2, 2, 0, 1};
  std::copy_n(a, 6, mine.as<std::int32_t>()), std::copy_n(b, 6, truth.as<std::int32_t>());
  const auto c = count_classes(mine.view(), truth.view(), 2, 2);
  EXPECT_EQ(c[1], (ClassCounts{.tp = 1, .fp = 1, .fn = 1, .tn = 1}));
  EXPECT_EQ(c[0], (ClassCounts{.tp = 1, .fp = 1, .fn = 1, .tn = 1}));
}

}  // namespace
}  // namespace voxshard
