// Whole numbers as NumPy's legacy generator draws them, numpy.random.RandomState(seed).randint(0, count): MT19937,
// whose outputs are masked to the next power of two and rejected from `count` on.
//
//   NumpyRandom random(1234);
//   random.below(1000)   // 815
#pragma once

#include <bit>
#include <cstdint>
#include <random>

namespace voxshard {

class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed) : generator_(seed) {}

  /// Returns a number from 0 to count - 1; a count of 1 draws nothing, as in NumPy.
  ///   count  1 to 2^32 - 1
  std::uint32_t below(std::uint64_t count) {
    if (count <= 1) return 0;
    const auto mask = static_cast<std::uint32_t>(std::bit_ceil(count) - 1);
    std::uint32_t drawn = 0;
    do drawn = static_cast<std::uint32_t>(generator_()) & mask;
    while (drawn >= count);
    return drawn;
  }

 private:
  std::mt19937 generator_;
};

}  // namespace voxshard
