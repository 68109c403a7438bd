// Tolerances computed by hand.
#include "libcore/check/tolerance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "libcore/base/rng.h"

namespace voxshard {
namespace {

TEST(Tolerance, HalfTheSpacingFollowsTheExponent) {
  EXPECT_EQ(half_spacing(1, DType::kBF16), 0x1p-8);
  EXPECT_EQ(half_spacing(-1.99, DType::kBF16), 0x1p-8);
  EXPECT_EQ(half_spacing(2, DType::kBF16), 0x1p-7);
  EXPECT_EQ(half_spacing(0.5, DType::kF32), 0x1p-25);
  EXPECT_EQ(half_spacing(3, DType::kF64), 0);
  EXPECT_LT(half_spacing(0, DType::kBF16), 1e-30) << "what is not written has no rounding";
}

TEST(Tolerance, ARoundedResultIsJudgedByWhatItLiesOffBeyondItsRounding) {
  Worst worst;
  worst.add_rounded(1, 1 + 0x1p-8, DType::kBF16, 1e-6);
  EXPECT_EQ(worst.ratio, 0);
  worst.add_rounded(1, 1 + 0x1p-8 + 5e-7, DType::kBF16, 1e-6);
  EXPECT_NEAR(worst.ratio, 0.5, 1e-6);
  worst.add_rounded(1.01, 1, DType::kBF16, 1e-6);
  EXPECT_TRUE(worst.too_far());
}

TEST(Tolerance, WhatIsNotFiniteIsTooFar) {
  const double infinite = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (double found : {infinite, -infinite, nan}) {
    Worst plain, rounded;
    plain.add(found, 1, 1);
    rounded.add_rounded(found, 1, DType::kBF16, 1);
    EXPECT_TRUE(plain.too_far() && rounded.too_far()) << found;
  }
}

TEST(Tolerance, ALongSumGrowsAsItsWalk) {
  const LongSum sum{.length = 1e4, .addend = 2};
  EXPECT_DOUBLE_EQ(sum_allowance(sum, DType::kF32), 8 * 0x1p-24 * 1e4 * 2);
  EXPECT_DOUBLE_EQ(sum_allowance(sum, DType::kF32, -3), 0x1p-24 * (8 * 1e4 * 2 + 2 * 100 * 3));
  const LongSum in_blocks{.length = 1e4, .addend = 2, .block = 1e4 / 16};
  EXPECT_DOUBLE_EQ(sum_allowance(in_blocks, DType::kF32, -3), 0x1p-24 * (8 * 1e4 * 2 + 2 * (100.0 / 16 + 2) * 3));
  EXPECT_DOUBLE_EQ(sum_allowance(sum, DType::kF64), 8 * 0x1p-53 * 1e6 * 2);
}

TEST(Tolerance, SumsThatGrowStraightStayWithinItAndComeNear) {
  constexpr int kLength = 4096;
  Worst worst;
  for (std::uint64_t stream = 0; stream < 1000; ++stream) {
    float sum = 0;
    double exact = 0;
    for (std::uint64_t i = 0; i < kLength; ++i) {
      const float addend = static_cast<float>(rng_uniform({.seed = 7, .stream = stream}, i));
      sum += addend, exact += addend;
    }
    worst.add(sum, exact, sum_allowance({.length = kLength, .addend = std::sqrt(1.0 / 3)}, DType::kF32, exact));
  }
  EXPECT_FALSE(worst.too_far()) << worst.difference << ", allowed " << worst.allowed;
  EXPECT_GT(worst.ratio, 0.25);
}

}  // namespace
}  // namespace voxshard
