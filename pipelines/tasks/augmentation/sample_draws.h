// The uniform random numbers of one sample, at fixed indices so that a new one does not shift the others. They depend
// on the seed, the stream and the sample's number alone, so that a resumed run sees the same samples.
//
//   const SampleDraws draws{{seed, rng_stream("augment/place")}, number * kDraws};
//   if (draws.happens(kRotates, 0.2)) degrees = draws.around(kAngle, 0, 30);
#pragma once

#include <cstdint>

#include "libcore/base/rng.h"

namespace voxshard {

struct SampleDraws {
  RngKey key;
  std::uint64_t base = 0;  // index of the sample's first number

  double uniform(std::uint64_t draw) const { return rng_uniform(key, base + draw); }
  /// Returns a whole number from 0 to count - 1.
  std::int64_t below(std::uint64_t draw, std::int64_t count) const { return rng_below(key, base + draw, count); }
  bool happens(std::uint64_t draw, double probability) const { return uniform(draw) < probability; }
  double between(std::uint64_t draw, double low, double high) const { return low + (high - low) * uniform(draw); }
  double around(std::uint64_t draw, double middle, double most) const {
    return middle + most * (2 * uniform(draw) - 1);
  }
  /// Returns a factor, as often below 1 as above.
  double factor(std::uint64_t draw, double low, double high) const {
    const double u = 2 * uniform(draw);
    return u < 1 ? low + (1 - low) * u : 1 + (high - 1) * (u - 1);
  }
};

}  // namespace voxshard
