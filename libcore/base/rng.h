// Counter-based random numbers: a value is a pure function of (seed, stream, index), so that crops, masks and initial
// weights are the same for any number of threads, and a resumed run needs no generator state but its step number.
//
//   float u = rng_uniform({.seed = 1, .stream = rng_stream("augment")}, step * 16 + 3);
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace voxshard {

struct RngKey {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
};

/// A stream number from a name (FNV-1a), so that streams are named and do not collide by accident.
constexpr std::uint64_t rng_stream(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (char ch : name) hash = (hash ^ static_cast<unsigned char>(ch)) * 0x100000001b3ULL;
  return hash;
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
constexpr std::uint64_t rng_mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// 64 random bits.
constexpr std::uint64_t rng_bits(RngKey key, std::uint64_t index) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
  return rng_mix(rng_mix(rng_mix(key.seed + kGolden) ^ key.stream) + (index + 1) * kGolden);
}

/// Uniform in [0, 1), 53 bits.
constexpr double rng_uniform(RngKey key, std::uint64_t index) {
  return static_cast<double>(rng_bits(key, index) >> 11) * 0x1.0p-53;
}

/// Uniform integer in [0, n), n > 0 (multiply-shift; the bias is below n / 2^53).
constexpr std::int64_t rng_below(RngKey key, std::uint64_t index, std::int64_t n) {
  return static_cast<std::int64_t>(rng_uniform(key, index) * static_cast<double>(n));
}

/// Standard normal (Box-Muller); uses the bits of 2 index and 2 index + 1.
inline double rng_normal(RngKey key, std::uint64_t index) {
  const double u = 1.0 - rng_uniform(key, 2 * index);
  const double v = rng_uniform(key, 2 * index + 1);
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

}  // namespace voxshard
