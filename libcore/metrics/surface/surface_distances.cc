// One direction at a time: the distance transform of one surface is read at the elements of the other. No list of
// distances is kept; a percentile narrows a range of distances until one value is left.
#include "libcore/metrics/surface/surface_distances.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/metrics/surface/distance_transform.h"

namespace voxshard {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-12;  // of the total weight: sums in another order still reach a share that they equal

/// The elements of a surface with their distances to another one.
struct Measured {
  const SurfaceElements& elements;
  const std::vector<double>& mm;  // at every place of an element

  /// Calls body(distance, weight) for each element.
  template <class Body>
  void for_each(Body body) const {
    const std::vector<std::uint8_t>& codes = elements.codes.at;
    for (std::size_t i = 0; i < codes.size(); ++i)
      if (codes[i]) body(mm[i], elements.weights[codes[i]]);
  }
};

/// Returns the smallest distance up to which the elements weigh `target`. Each pass sorts the distances of low .. high
/// into bins and goes on with the bin in which the sum reaches the target; one with different distances never holds
/// all of them, as the lowest falls into the first and the highest into the last.
double distance_reaching(const Measured& measured, double target, double low, double high) {
  struct Bin {
    double weight = 0, low = kInfinite, high = 0;
  };
  constexpr std::size_t kBins = 256;
  double below = 0;
  while (low < high) {
    std::array<Bin, kBins> bins{};
    measured.for_each([&](double mm, double weight) {
      if (mm < low || mm > high) return;
      const auto place = static_cast<std::size_t>((mm - low) / (high - low) * static_cast<double>(kBins));
      Bin& bin = bins[std::min(place, kBins - 1)];
      bin.weight += weight, bin.low = std::min(bin.low, mm), bin.high = std::max(bin.high, mm);
    });
    const Bin* last = nullptr;
    for (const Bin& bin : bins) {
      if (bin.low == kInfinite) continue;
      if (last != nullptr) below += last->weight;
      last = &bin;
      if (below + bin.weight >= target) break;
    }
    low = last->low, high = last->high;
  }
  return low;
}

/// Between the two distances whose ranks, counted from 0, are next to percent / 100 (n - 1), as numpy.percentile
/// interpolates by default; else the distance that percent of the weight reaches.
double percentile(const Measured& measured, const DirectedDistances& sums, double least_mm,
                  const SurfaceOptions& options) {
  const double share = options.percent / 100;
  const auto reaching = [&](double target) {
    return distance_reaching(measured, target - kRounding * sums.weight, least_mm, sums.largest_mm);
  };
  if (!options.convention->interpolates) return reaching(share * sums.weight);
  const double rank = share * (sums.weight - 1), lower = std::floor(rank);
  const double a = reaching(lower + 1), b = reaching(std::min(lower + 2, sums.weight));
  return a + (b - a) * (rank - lower);
}

DirectedDistances directed(const SurfaceElements& from, const SurfaceElements& to, const GridSpacing& spacing_mm,
                           const SurfaceOptions& options) {
  DirectedDistances sums;
  if (from.codes.empty()) return sums;
  std::vector<double> mm = squared_distances(to.codes, spacing_mm);
  for (double& value : mm) value = std::sqrt(value);
  const Measured measured{from, mm};
  double least_mm = kInfinite;
  measured.for_each([&](double distance, double weight) {
    sums.weight += weight, sums.weighted_mm += weight * distance;
    if (distance <= options.tolerance_mm) sums.within += weight;
    sums.largest_mm = std::max(sums.largest_mm, distance), least_mm = std::min(least_mm, distance);
  });
  sums.percentile_mm = std::isinf(sums.largest_mm) ? kInfinite : percentile(measured, sums, least_mm, options);
  return sums;
}

/// The larger value of the directions that have an element.
double larger(const SurfaceDistances& s, double DirectedDistances::*mm) {
  const DirectedDistances &a = s.from_prediction, &b = s.from_reference;
  if (a.empty()) return b.empty() ? kNan : b.*mm;
  return b.empty() ? a.*mm : std::max(a.*mm, b.*mm);
}

}  // namespace

SurfaceDistances surface_distances(const Mask& prediction, const Mask& reference, const GridSpacing& spacing_mm,
                                   const SurfaceOptions& options) {
  ensure(prediction.size == reference.size, "the masks have equal sizes");
  ensure(options.percent >= 0 && options.percent <= 100, "a percentage is in 0 to 100");
  const SurfaceElements mine = options.convention->elements(prediction, spacing_mm);
  const SurfaceElements truth = options.convention->elements(reference, spacing_mm);
  return {.from_prediction = directed(mine, truth, spacing_mm, options),
          .from_reference = directed(truth, mine, spacing_mm, options)};
}

double surface_bytes(const GridSize& size) {
  double voxels = 1, corners = 1, longest = 0;
  for (const std::int64_t n : size) {
    voxels *= static_cast<double>(n), corners *= static_cast<double>(n) + 1;
    longest = std::max(longest, static_cast<double>(n) + 1);
  }
  return 2 * voxels + (2 + 8) * corners + 32 * longest;  // masks, elements, one distance transform and a line of it
}

double nsd(const SurfaceDistances& s) {
  return (s.from_prediction.within + s.from_reference.within) / (s.from_prediction.weight + s.from_reference.weight);
}

double hausdorff(const SurfaceDistances& s) { return larger(s, &DirectedDistances::largest_mm); }

double hausdorff_percentile(const SurfaceDistances& s) { return larger(s, &DirectedDistances::percentile_mm); }

double average_distance(const SurfaceDistances& s) {
  return (s.from_prediction.weighted_mm + s.from_reference.weighted_mm) /
         (s.from_prediction.weight + s.from_reference.weight);
}

}  // namespace voxshard
