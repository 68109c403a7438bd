#include "libcore/metrics/spread.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace voxshard {
namespace {

TEST(Spread, IsThatOfTheSampleByHand) {
  const Spread s = spread_of(std::vector{2.0, 4.0, 9.0});  // mean 5, squares 9 + 1 + 16, over 2
  EXPECT_EQ(s.n, 3u);
  EXPECT_DOUBLE_EQ(s.mean, 5);
  EXPECT_DOUBLE_EQ(s.deviation, std::sqrt(13.0));
  EXPECT_EQ(s.least, 2);
  EXPECT_EQ(s.largest, 9);
}

TEST(Spread, WhatHasNoScoreDoesNotCount) {
  const double nan = std::nan("");
  const Spread s = spread_of(std::vector{nan, 0.5, nan, 0.75});
  EXPECT_EQ(s.n, 2u);
  EXPECT_DOUBLE_EQ(s.mean, 0.625);
  EXPECT_DOUBLE_EQ(s.deviation, 0.125 * std::sqrt(2.0));
  EXPECT_EQ(spread_of(std::vector{nan}).n, 0u);
  EXPECT_TRUE(std::isnan(spread_of(std::vector{nan}).mean));
}

TEST(Spread, OfOneValueOrAnInfiniteOneThereIsNoDeviation) {
  const Spread one = spread_of(std::vector{0.5});
  EXPECT_EQ(one.mean, 0.5);
  EXPECT_TRUE(std::isnan(one.deviation));
  const Spread far = spread_of(std::vector{1.0, HUGE_VAL});
  EXPECT_TRUE(std::isinf(far.mean) && std::isnan(far.deviation));
  EXPECT_EQ(far.least, 1);
}

TEST(Spread, EqualLargeValuesHaveNone) {
  EXPECT_EQ(spread_of(std::vector{1e9 + 0.25, 1e9 + 0.25, 1e9 + 0.25}).deviation, 0);
}

}  // namespace
}  // namespace voxshard
