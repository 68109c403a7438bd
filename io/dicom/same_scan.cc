#include "io/dicom/same_scan.h"

#include <algorithm>
#include <cmath>
#include <map>

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

/// True unless the times say that one was scanned after the other. Scanners that write no time, or whose times were
/// removed, tell scans apart by their numbers alone.
bool were_scanned_together(const DicomSeries& a, const DicomSeries& b) {
  constexpr double kRoundingS = 1;
  if (!a.acquired_s || !b.acquired_s) return !a.acquired_s && !b.acquired_s;
  const double begin = std::max((*a.acquired_s)[0], (*b.acquired_s)[0]);
  return begin <= std::min((*a.acquired_s)[1], (*b.acquired_s)[1]) + kRoundingS;
}

/// True for two that were reconstructed alike: they are no two versions of one scan, but two scans, or a copy.
bool are_alike(const DicomSeries& a, const DicomSeries& b) {
  const auto same = [](double x, double y) { return std::abs(x - y) <= 0.01 * std::max(x, y); };
  return a.common.kernel == b.common.kernel && a.grid.size[0] == b.grid.size[0] && a.grid.size[1] == b.grid.size[1] &&
         std::equal(a.grid.spacing.begin(), a.grid.spacing.end(), b.grid.spacing.begin(), same) &&
         same(a.common.thickness_mm.value_or(0), b.common.thickness_mm.value_or(0));
}

}  // namespace

bool is_same_scan(const DicomSeries& a, const DicomSeries& b) {
  const DicomHeader &x = a.common, &y = b.common;
  const bool both_hu = is_in_hounsfield_units(x, x.frames[0]) && is_in_hounsfield_units(y, y.frames[0]);
  const bool same_names = both_hu && !x.study.empty() && x.study == y.study && !x.acquisition.empty() &&
                          x.acquisition == y.acquisition &&
                          x.frames[0].temporal_position == y.frames[0].temporal_position;
  if (!same_names || a.slices.size() < 2 || b.slices.size() < 2) return false;
  if (!were_scanned_together(a, b) || are_alike(a, b)) return false;
  double cosine = 0;
  for (std::size_t r = 0; r < 3; ++r) cosine += a.grid.direction[3 * r + 2] * b.grid.direction[3 * r + 2];
  constexpr double kParallel = 0.999, kCommonShare = 0.8;
  if (std::abs(cosine) < kParallel) return false;
  const auto [low_a, high_a] = range_along(a, a);
  const auto [low_b, high_b] = range_along(b, a);
  const double common = std::min(high_a, high_b) - std::max(low_a, low_b);
  return common >= kCommonShare * std::max(high_a - low_a, high_b - low_b);
}

std::vector<std::size_t> best_of_their_scans(const DicomFolder& folder) {
  std::map<std::string, std::vector<std::size_t>> studies;  // a scan is one of a study
  for (std::size_t i = 0; i < folder.series.size(); ++i) studies[folder.series[i].common.study].push_back(i);
  std::vector<std::size_t> best(folder.series.size());
  for (std::size_t i = 0; i < folder.series.size(); ++i) {
    std::vector<const DicomSeries*> scan, labelled;
    for (const std::size_t other : studies.at(folder.series[i].common.study)) {
      const DicomSeries& series = folder.series[other];
      if (other != i && !is_same_scan(folder.series[i], series)) continue;
      scan.push_back(&series);
      if (folder.labelled.contains(series.common.series)) labelled.push_back(&series);
    }
    const DicomSeries* chosen = best_reconstruction(labelled.empty() ? scan : labelled);
    best[i] = static_cast<std::size_t>(chosen - folder.series.data());
  }
  return best;
}

std::optional<std::size_t> series_of_one_scan(const DicomFolder& folder) {
  const std::vector<std::size_t> best = best_of_their_scans(folder);
  const auto same = [&](std::size_t one) { return one == best.front(); };
  return !best.empty() && std::ranges::all_of(best, same) ? std::optional(best.front()) : std::nullopt;
}

std::string reconstruction_text(const DicomSeries& series) {
  return "slices " + fixed_text(series.grid.spacing[2], 2) + " mm apart, kernel sharpness " +
         std::to_string(kernel_sharpness(series.common.kernel)) + " of 100";
}

}  // namespace voxshard
