// How a score moves between repetitions, such as runs that differ in their seed or in the fold that they hold out.
//
//   const Spread s = spread_of(std::vector{0.70, 0.72, 0.77});      // mean 0.73, deviation 0.036, 0.70 to 0.77
#pragma once

#include <cstddef>
#include <limits>
#include <span>

namespace voxshard {

struct Spread {
  std::size_t n = 0;  // values that count
  double mean = std::numeric_limits<double>::quiet_NaN();
  double deviation = std::numeric_limits<double>::quiet_NaN();  // of the sample, with the divisor n - 1
  double least = std::numeric_limits<double>::quiet_NaN(), largest = std::numeric_limits<double>::quiet_NaN();
};

/// Returns the spread of the values that are not NaN: those without a score do not count. The deviation of a single
/// value, and one with an infinite value, is NaN.
Spread spread_of(std::span<const double> values);

}  // namespace voxshard
