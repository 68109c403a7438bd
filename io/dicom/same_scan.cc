#include "io/dicom/same_scan.h"

#include <algorithm>
#include <cmath>

#include "io/dicom/best_reconstruction.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

/// Returns the first and last place along the normal of `plane`, mm.
std::pair<double, double> range_along(const DicomSeries& series, const DicomSeries& plane) {
  const auto along = [&](const DicomSlice& slice) {
    double sum = 0;
    for (std::size_t r = 0; r < 3; ++r) sum += slice.at[r] * plane.grid.direction[3 * r + 2];
    return sum;
  };
  const double a = along(series.slices.front()), b = along(series.slices.back());
  return {std::min(a, b), std::max(a, b)};
}

}  // namespace

bool is_same_scan(const DicomSeries& a, const DicomSeries& b) {
  const DicomHeader &x = a.common, &y = b.common;
  const bool same_names = !x.study.empty() && x.study == y.study && x.modality == y.modality &&
                          !x.acquisition.empty() && x.acquisition == y.acquisition;
  if (!same_names || a.slices.size() < 2 || b.slices.size() < 2) return false;
  double cosine = 0;
  for (std::size_t r = 0; r < 3; ++r) cosine += a.grid.direction[3 * r + 2] * b.grid.direction[3 * r + 2];
  constexpr double kParallel = 0.999, kCommonShare = 0.8;
  if (std::abs(cosine) < kParallel) return false;
  const auto [low_a, high_a] = range_along(a, a);
  const auto [low_b, high_b] = range_along(b, a);
  const double common = std::min(high_a, high_b) - std::max(low_a, low_b);
  return common >= kCommonShare * std::max(high_a - low_a, high_b - low_b);
}

std::vector<std::size_t> best_of_their_scans(const std::vector<DicomSeries>& series) {
  std::vector<std::size_t> best;
  for (const DicomSeries& one : series) {
    std::vector<const DicomSeries*> scan;
    for (const DicomSeries& other : series)
      if (&other == &one || is_same_scan(one, other)) scan.push_back(&other);
    best.push_back(static_cast<std::size_t>(best_reconstruction(scan) - series.data()));
  }
  return best;
}

std::string reconstruction_text(const DicomSeries& series) {
  return "slices " + fixed_text(series.grid.spacing[2], 2) + " mm apart, kernel sharpness " +
         std::to_string(kernel_sharpness(series.common.kernel)) + " of 100";
}

}  // namespace voxshard
