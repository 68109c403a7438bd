// bfloat16: round to nearest, ties to even; NaN stays NaN, infinity stays infinity; all 65536 values survive the way
// through f32.
#include "libcore/tensor/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "libcore/base/rng.h"

namespace voxshard {
namespace {

float narrowed(float value) { return static_cast<float>(BF16(value)); }
float from_word(std::uint32_t word) { return std::bit_cast<float>(word); }
std::uint16_t bits_of(std::uint32_t word) { return BF16(from_word(word)).bits; }

TEST(BF16, AllValuesRoundTripThroughF32) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    BF16 value;
    value.bits = static_cast<std::uint16_t>(bits);
    const BF16 back(static_cast<float>(value));
    if (std::isnan(static_cast<float>(value))) {
      EXPECT_TRUE(std::isnan(static_cast<float>(back))) << bits;
    } else {
      EXPECT_EQ(back.bits, value.bits);
    }
  }
}

TEST(BF16, TiesGoToTheEvenNeighbour) {
  EXPECT_EQ(bits_of(0x3f808000U), 0x3f80);  // 1 + 2^-8: half way, 1 is even
  EXPECT_EQ(bits_of(0x3f818000U), 0x3f82);  // half way between odd 0x3f81 and even 0x3f82
  EXPECT_EQ(bits_of(0xbf808000U), 0xbf80);
  EXPECT_EQ(bits_of(0x3f808001U), 0x3f81);  // one above the tie
  EXPECT_EQ(bits_of(0x3f807fffU), 0x3f80);  // one below
}

TEST(BF16, RoundingCarriesIntoTheExponentAndToInfinity) {
  EXPECT_EQ(bits_of(0x3fffc000U), 0x4000);  // 1.998.. -> 2
  EXPECT_EQ(bits_of(0x7f7fffffU), 0x7f80);  // the largest f32 -> infinity
  EXPECT_EQ(bits_of(0x7f7f7fffU), 0x7f7f);  // just below half way: the largest bf16
}

TEST(BF16, KeepsInfinityZeroAndTheirSigns) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(narrowed(infinity), infinity);
  EXPECT_EQ(narrowed(-infinity), -infinity);
  EXPECT_EQ(BF16(0.0F).bits, 0x0000);
  EXPECT_EQ(BF16(-0.0F).bits, 0x8000);
}

TEST(BF16, EveryNaNStaysANaN) {
  for (std::uint32_t word : {0x7f800001U, 0x7fc00000U, 0x7fffffffU, 0xff800001U, 0xffffffffU, 0x7f80ffffU})
    EXPECT_TRUE(std::isnan(narrowed(from_word(word)))) << std::hex << word;
}

TEST(BF16, IsTheNearestOfBothNeighbours) {
  constexpr std::uint64_t kSeed = 8;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const auto word = static_cast<std::uint32_t>(rng_bits({kSeed, 0}, i));
    const float x = from_word(word);
    if (!std::isfinite(x) || std::abs(x) > 3e38F) continue;
    const double below = from_word(word & 0xffff0000U), above = from_word((word & 0xffff0000U) + 0x10000U);
    const double best = std::min(std::abs(x - below), std::abs(x - above));
    EXPECT_EQ(std::abs(static_cast<double>(x) - static_cast<double>(narrowed(x))), best)
        << "seed " << kSeed << " word " << word;
  }
}

TEST(DType, NamesAndBytes) {
  EXPECT_EQ(dtype_bytes(DType::kF64), 8);
  EXPECT_EQ(dtype_bytes(DType::kF32), 4);
  EXPECT_EQ(dtype_bytes(DType::kI32), 4);
  EXPECT_EQ(dtype_bytes(DType::kBF16), 2);
  EXPECT_EQ(dtype_bytes(DType::kU8), 1);
  EXPECT_STREQ(dtype_name(DType::kBF16), "bf16");
  EXPECT_TRUE(is_float(DType::kBF16));
  EXPECT_FALSE(is_float(DType::kI32));
}

}  // namespace
}  // namespace voxshard
