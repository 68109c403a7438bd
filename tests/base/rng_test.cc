// Counter-based random numbers: a value depends on seed, stream and index alone, and looks random in each of them.
#include "libcore/base/rng.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace voxshard {
namespace {

constexpr std::uint64_t kSeed = 20240611;
constexpr std::uint64_t kDraws = 100'000;

TEST(Rng, TheSameKeyAndIndexGiveTheSameValue) {
  const RngKey key{kSeed, rng_stream("augment")};
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(rng_bits(key, i), rng_bits({kSeed, rng_stream("augment")}, i)) << "seed " << kSeed << " index " << i;
    EXPECT_EQ(rng_normal(key, i), rng_normal(key, i)) << "seed " << kSeed << " index " << i;
  }
}

// Stored from this implementation: a change of the generator would change every initial weight and every crop.
TEST(Rng, TheValuesNeverChange) {
  static_assert(rng_mix(0) == 0);
  static_assert(rng_mix(0x9e3779b97f4a7c15ULL) == 0xe220a8397b1dcdafULL);  // SplitMix64 of seed 0, first output
  static_assert(rng_stream("") == 0xcbf29ce484222325ULL);                  // FNV-1a offset basis
  static_assert(rng_stream("a") == 0xaf63dc4c8601ec8cULL);                 // FNV-1a test vector
}

TEST(Rng, UniformHasTheMomentsOfAUniform) {
  const RngKey key{kSeed, 1};
  double sum = 0, square = 0;
  std::array<int, 10> bins{};
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double u = rng_uniform(key, i);
    ASSERT_TRUE(u >= 0 && u < 1) << "seed " << kSeed << " index " << i;
    sum += u;
    square += u * u;
    ++bins[static_cast<std::size_t>(u * 10)];
  }
  const double n = kDraws;
  // Five standard deviations of the mean of n draws: sqrt(1 / 12 n), sqrt(4 / 45 n), sqrt(0.09 / n).
  EXPECT_NEAR(sum / n, 1.0 / 2, 5 * std::sqrt(1 / (12 * n))) << "seed " << kSeed;
  EXPECT_NEAR(square / n, 1.0 / 3, 5 * std::sqrt(4 / (45 * n))) << "seed " << kSeed;
  for (int count : bins) EXPECT_NEAR(count / n, 0.1, 5 * std::sqrt(0.09 / n)) << "seed " << kSeed;
}

TEST(Rng, NormalHasTheMomentsOfANormal) {
  const RngKey key{kSeed, 2};
  double sum = 0, square = 0, fourth = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double x = rng_normal(key, i);
    ASSERT_TRUE(std::isfinite(x)) << "seed " << kSeed << " index " << i;
    sum += x;
    square += x * x;
    fourth += x * x * x * x;
  }
  const double n = kDraws;
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n)) << "seed " << kSeed;
  EXPECT_NEAR(square / n, 1, 5 * std::sqrt(2 / n)) << "seed " << kSeed;
  EXPECT_NEAR(fourth / n, 3, 5 * std::sqrt(96 / n)) << "seed " << kSeed;
}

TEST(Rng, BelowReachesEveryNumberAndNoOther) {
  std::array<int, 7> bins{};
  for (std::uint64_t i = 0; i < 7000; ++i) {
    const std::int64_t k = rng_below({kSeed, 3}, i, 7);
    ASSERT_TRUE(k >= 0 && k < 7) << "seed " << kSeed << " index " << i;
    ++bins[static_cast<std::size_t>(k)];
  }
  for (int count : bins) EXPECT_NEAR(count, 1000, 150) << "seed " << kSeed;
  EXPECT_EQ(rng_below({kSeed, 3}, 0, 1), 0);
}

double correlation(RngKey a, RngKey b, std::uint64_t shift) {
  double sum = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) sum += (rng_uniform(a, i) - 0.5) * (rng_uniform(b, i + shift) - 0.5);
  return 12 * sum / static_cast<double>(kDraws);
}

TEST(Rng, SeedsAndStreamsAreUncorrelated) {
  const double limit = 5 / std::sqrt(static_cast<double>(kDraws));
  EXPECT_NEAR(correlation({kSeed, 1}, {kSeed, 2}, 0), 0, limit) << "streams, seed " << kSeed;
  EXPECT_NEAR(correlation({kSeed, 1}, {kSeed + 1, 1}, 0), 0, limit) << "seeds, seed " << kSeed;
  EXPECT_NEAR(correlation({kSeed, 1}, {kSeed, 1}, 1), 0, limit) << "neighbours, seed " << kSeed;
  EXPECT_NEAR(correlation({kSeed, kSeed + 1}, {kSeed + 1, kSeed}, 0), 0, limit) << "exchanged, seed " << kSeed;
}

TEST(Rng, NoTwoOfManyKeysGiveTheSameBits) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (std::uint64_t stream = 0; stream < 20; ++stream)
      for (std::uint64_t i = 0; i < 20; ++i) seen.insert(rng_bits({seed, stream}, i));
  EXPECT_EQ(seen.size(), 8000U);
}

TEST(Rng, NamedStreamsDiffer) {
  std::set<std::uint64_t> streams;
  for (const char* name : {"augment", "image", "labels", "encoder0/conv0/kernel", "encoder0/conv1/kernel", "b", "a"})
    streams.insert(rng_stream(name));
  EXPECT_EQ(streams.size(), 7U);
}

}  // namespace
}  // namespace voxshard
