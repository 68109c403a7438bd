// Generated digits: the same for the same options, and not distinguishable by the amount of ink.
#include "pipelines/phantoms/digit_phantom.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace voxshard {
namespace {

double ink(const DigitPhantom& digit) {
  double sum = 0;
  for (std::int64_t i = 0; i < digit.pixels.count(); ++i) sum += digit.pixels.as<std::uint8_t>()[i];
  return sum / static_cast<double>(digit.pixels.count());
}

TEST(DigitPhantom, TheSameOptionsGiveTheSamePixels) {
  const DigitPhantom a = make_digit_phantom({.seed = 3, .index = 17}), b = make_digit_phantom({.seed = 3, .index = 17});
  EXPECT_EQ(a.label, 7);
  EXPECT_EQ(a.pixels.shape(), (Shape{28, 28}));
  EXPECT_TRUE(compare(a.pixels.view(), b.pixels.view()).bit_equal);
  EXPECT_FALSE(compare(a.pixels.view(), make_digit_phantom({.seed = 4, .index = 17}).pixels.view()).bit_equal);
  EXPECT_FALSE(compare(a.pixels.view(), make_digit_phantom({.seed = 3, .index = 27}).pixels.view()).bit_equal);
}

TEST(DigitPhantom, InkAloneDoesNotTell) {
  std::array<double, 10> sum{}, square{};
  constexpr int kEach = 40;
  for (int i = 0; i < 10 * kEach; ++i) {
    const double v = ink(make_digit_phantom({.index = i}));
    sum[i % 10] += v, square[i % 10] += v * v;
  }
  for (std::size_t d = 0; d < 10; ++d) {
    const double mean = sum[d] / kEach, deviation = std::sqrt(square[d] / kEach - mean * mean);
    EXPECT_GT(mean, 15) << d << ": nothing is drawn";
    EXPECT_LT(mean, 120) << d;
    EXPECT_GT(deviation, 4) << d << ": all alike";
  }
  const double all = (sum[0] + sum[8]) / (2 * kEach);
  EXPECT_LT(std::abs(sum[0] - sum[8]) / kEach, 0.5 * all);
}

TEST(DigitPhantom, ALargerSideIsTheSameDigit) {
  const DigitPhantom small = make_digit_phantom({.index = 5}), large = make_digit_phantom({.index = 5, .side = 56});
  EXPECT_EQ(large.pixels.shape(), (Shape{56, 56}));
  EXPECT_NEAR(ink(small), ink(large), 12);
}

}  // namespace
}  // namespace voxshard
