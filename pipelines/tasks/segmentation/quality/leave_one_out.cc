#include "pipelines/tasks/segmentation/quality/leave_one_out.h"

#include <algorithm>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

constexpr double kNormal = 1.4826;  // standard deviation / median absolute deviation of a normal distribution

}  // namespace

LeaveOneOut::LeaveOneOut(std::vector<double> values) : sorted_(std::move(values)) {
  std::sort(sorted_.begin(), sorted_.end());
}

std::size_t LeaveOneOut::place_of(double value) const {
  const auto place = std::lower_bound(sorted_.begin(), sorted_.end(), value);
  ensure(place != sorted_.end() && *place == value, "the value that is left out is one of the list");
  return static_cast<std::size_t>(place - sorted_.begin());
}

double LeaveOneOut::median(std::size_t skipped) const {
  const std::size_t n = left(skipped);
  return (at((n - 1) / 2, skipped) + at(n / 2, skipped)) / 2;
}

double LeaveOneOut::median_without(double value) const {
  ensure(others() > 0, "a median needs another value");
  return median(place_of(value));
}

/// Returns the median of the deviations, the upper one of two. The deviations below the median and those from it on are
/// both sorted, so that a binary search finds how many of the n / 2 + 1 nearest values lie below it (`low`).
double LeaveOneOut::median_deviation(std::size_t skipped, double median) const {
  const std::size_t n = left(skipped);
  std::size_t first = 0;  // the number of values below the median
  for (std::size_t step = n; step > 0; step /= 2)
    while (first + step <= n && at(first + step - 1, skipped) < median) first += step;
  const std::size_t below = first, above = n - first, nearest = n / 2 + 1;
  const auto down = [&](std::size_t i) { return median - at(below - 1 - i, skipped); };
  const auto up = [&](std::size_t i) { return at(below + i, skipped) - median; };
  std::size_t low = nearest > above ? nearest - above : 0, high = std::min(nearest, below);
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (down(middle) < up(nearest - middle - 1))
      low = middle + 1;
    else
      high = middle;
  }
  const double of_below = low > 0 ? down(low - 1) : 0, of_above = nearest > low ? up(nearest - low - 1) : 0;
  return std::max(of_below, of_above);
}

std::optional<double> LeaveOneOut::score(double value, double floor) const {
  if (others() < kFewestOthers) return std::nullopt;
  const std::size_t skipped = place_of(value);
  const double middle = median(skipped);
  return (value - middle) / std::max(floor, kNormal * median_deviation(skipped, middle));
}

std::optional<Usual> LeaveOneOut::usual() const {
  if (sorted_.size() < kFewestOthers) return std::nullopt;
  const double middle = median(sorted_.size());
  return Usual{middle, kNormal * median_deviation(sorted_.size(), middle)};
}

}  // namespace voxshard
