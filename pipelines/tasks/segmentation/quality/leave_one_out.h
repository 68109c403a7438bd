// How far one value of a list lies from the others, by their median and their median absolute deviation: a list may
// hold up to half of wrong values before a right one looks wrong. The rules of `check` and the flags of `predict` share
// this, and the limits below.
//
//   LeaveOneOut volumes({2.1, 2.0, ..., 6.0});
//   volumes.score(6.0, 0.2);       // 20 deviations of the others above their median
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace voxshard {

/// Fewer other values than these say nothing about what is usual.
inline constexpr std::size_t kFewestOthers = 8;
/// The least deviation of the natural logarithm of a volume that counts, and of a position, for sets whose cases hardly
/// differ.
inline constexpr double kLogVolumeFloor = 0.2, kPlaceFloorMm = 5;

/// The median of some values, and their usual distance from it.
struct Usual {
  double median = 0;
  double deviation = 0;  // 1.4826 times the median absolute deviation
  friend bool operator==(const Usual&, const Usual&) = default;
};

class LeaveOneOut {
 public:
  explicit LeaveOneOut(std::vector<double> values);

  /// Returns the number of other values.
  std::size_t others() const { return sorted_.empty() ? 0 : sorted_.size() - 1; }
  /// Returns the median of the values without `value`, which is one of them and finite.
  double median_without(double value) const;
  /// Returns (value - median) / deviation, both of the other values. The deviation is 1.4826 times their median
  /// absolute deviation, which is the standard deviation of a normal distribution, and at least `floor`. None for fewer
  /// than kFewestOthers other values. Cost: logarithmic in the number of values.
  std::optional<double> score(double value, double floor) const;
  /// Returns what is usual of all values, none of them left out; none for fewer than kFewestOthers.
  std::optional<Usual> usual() const;

 private:
  /// The number of values without `skipped`; the size of the list skips none.
  std::size_t left(std::size_t skipped) const { return sorted_.size() - (skipped < sorted_.size() ? 1 : 0); }
  double at(std::size_t i, std::size_t skipped) const { return sorted_[i < skipped ? i : i + 1]; }
  std::size_t place_of(double value) const;
  double median(std::size_t skipped) const;
  double median_deviation(std::size_t skipped, double median) const;

  std::vector<double> sorted_;
};

}  // namespace voxshard
