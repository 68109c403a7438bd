#include "libcore/metrics/spread.h"

#include <algorithm>
#include <cmath>

namespace voxshard {

Spread spread_of(std::span<const double> values) {
  Spread spread;
  double sum = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    spread.least = spread.n == 0 ? value : std::min(spread.least, value);
    spread.largest = spread.n == 0 ? value : std::max(spread.largest, value);
    sum += value, ++spread.n;
  }
  if (spread.n == 0) return spread;
  spread.mean = sum / static_cast<double>(spread.n);
  if (spread.n < 2) return spread;
  double squares = 0;  // in a second pass, since scores differ in their last digits only
  for (const double value : values)
    if (!std::isnan(value)) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / static_cast<double>(spread.n - 1));
  return spread;
}

}  // namespace voxshard
