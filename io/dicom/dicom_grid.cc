#include "io/dicom/dicom_grid.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "libcore/base/plain_text.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

using Vector = std::array<double, 3>;

/// Positions are decimal text that some exporters round to 0.1 mm: a slice may lie half of that beside its place on the
/// regular grid, and a hundredth of the spacing.
constexpr double kRoundingMm = 0.05, kRoundingOfSpacing = 0.01;
/// A pixel is not smaller: quotients by it are counts of voxels.
constexpr double kLeastPixelMm = 1e-6;
/// Direction cosines are rounded to as little as three digits.
constexpr double kCosineRounding = 2e-3;

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector minus(const Vector& a, const Vector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Vector unit(const Vector& a) {
  const double length = std::sqrt(dot(a, a));
  return {a[0] / length, a[1] / length, a[2] / length};
}
std::string mm(double value) { return fixed_text(value, 2) + " mm"; }

/// Orthonormal axes of the image plane: along a row, along a column, and their normal.
struct Plane {
  Vector row{1, 0, 0}, column{0, 1, 0}, normal{0, 0, 1};
};

/// Returns the axes of direction cosines; none when they are not two unit vectors at a right angle, up to rounding.
std::optional<Plane> plane_of(const std::array<double, 6>& cosines) {
  const Vector row{cosines[0], cosines[1], cosines[2]}, column{cosines[3], cosines[4], cosines[5]};
  const bool right = std::abs(dot(row, row) - 1) < 2 * kCosineRounding &&
                     std::abs(dot(column, column) - 1) < 2 * kCosineRounding &&
                     std::abs(dot(row, column)) < kCosineRounding;
  if (!right) return std::nullopt;
  Plane plane{.row = unit(row)};
  const Vector c = unit(column);
  const double along = dot(plane.row, c);
  plane.column = unit({c[0] - along * plane.row[0], c[1] - along * plane.row[1], c[2] - along * plane.row[2]});
  plane.normal = cross(plane.row, plane.column);
  return plane;
}

/// "slices 12 and 13, at 40.00 mm and 55.00 mm": counted from 1 along the normal.
std::string between(const DicomSeries& series, std::size_t first) {
  return "slices " + std::to_string(first + 1) + " and " + std::to_string(first + 2) + ", at " +
         mm(series.slices[first].along_mm) + " and " + mm(series.slices[first + 1].along_mm);
}

/// Returns the distances from each slice to the next.
std::vector<double> steps_of(const DicomSeries& series) {
  std::vector<double> steps;
  for (std::size_t i = 0; i + 1 < series.slices.size(); ++i)
    steps.push_back(series.slices[i + 1].along_mm - series.slices[i].along_mm);
  return steps;
}

/// Explains steps that are not equal: whole slices are missing, or the distances are irregular.
void refuse_irregular(DicomSeries& series, const std::vector<double>& steps) {
  std::vector<double> sorted = steps;
  std::sort(sorted.begin(), sorted.end());
  const double usual = sorted[(sorted.size() - 1) / 2];  // the lower median: a gap is wider than the usual step
  std::int64_t missing = 0, first = -1;
  bool whole = true;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double times = std::round(steps[i] / usual);
    whole = whole && times >= 1 && std::abs(steps[i] - times * usual) <= kRoundingMm + 0.05 * usual;
    if (times > 1) {
      missing += static_cast<std::int64_t>(times) - 1;
      if (first < 0) first = static_cast<std::int64_t>(i);
    }
  }
  if (whole && missing > 0)
    return refuse_series(series, "E_GAP",
                         "lacks " + std::to_string(missing) + (missing == 1 ? " slice" : " slices") +
                             " where its spacing is " + mm(usual) + "; the first gap is between " +
                             between(series, static_cast<std::size_t>(first)) +
                             "; export the series again, whole, or take {irregular-slices} resample");
  const auto widest = std::max_element(steps.begin(), steps.end());
  refuse_series(series, "E_IRREGULAR",
                "has slices at irregular distances, " + mm(sorted.front()) + " to " + mm(sorted.back()) +
                    ", the widest between " + between(series, static_cast<std::size_t>(widest - steps.begin())) +
                    "; choose a series with one spacing, export it again, or take {irregular-slices} resample");
}

/// Checks the positions of sorted slices, two or more, and sets the spacing of the grid.
void place_slices(DicomSeries& series, const Plane& plane) {
  const std::vector<double> steps = steps_of(series);
  const auto doubled = std::count_if(steps.begin(), steps.end(), [](double s) { return s < kCoincidingMm; });
  if (doubled > 0) {
    const auto at = std::find_if(steps.begin(), steps.end(), [](double s) { return s < kCoincidingMm; });
    return refuse_series(series, "E_DOUBLED",
                         "has " + std::to_string(doubled) + (doubled == 1 ? " slice" : " slices") +
                             " at a place where another one lies, the first at " +
                             mm(series.slices[at - steps.begin()].along_mm) +
                             "; are two series mixed, or is one there twice? Keep one file for each place, or take "
                             "{irregular-slices} resample, "
                             "which keeps one of those that are equal");
  }
  const Vector way = minus(series.slices.back().at, series.slices.front().at);
  const double length = dot(way, plane.normal), count = static_cast<double>(steps.size());
  const double aside_x = dot(way, plane.row), aside_y = dot(way, plane.column);
  const double smaller_pixel = std::min(series.grid.spacing[0], series.grid.spacing[1]);
  if (const double aside = std::hypot(aside_x, aside_y); aside > std::max(kRoundingMm * 2, 0.1 * smaller_pixel))
    return refuse_series(series, "E_TILT",
                         "was scanned with a tilted gantry, or is sheared: its slices shift by " + mm(aside) +
                             " over " + mm(length) + ", " +
                             fixed_text(std::atan2(aside, length) * 180 / std::numbers::pi, 2) +
                             " degrees; export it resampled on an upright grid, or take {irregular-slices} resample");
  const double spacing = length / count, most = kRoundingMm + kRoundingOfSpacing * spacing;
  for (std::size_t i = 0; i < series.slices.size(); ++i) {
    const double place = series.slices.front().along_mm + spacing * static_cast<double>(i);
    if (std::abs(series.slices[i].along_mm - place) > most) return refuse_irregular(series, steps);
  }
  series.grid.spacing[2] = spacing;
}

}  // namespace

void refuse_series(DicomSeries& series, const char* code, const std::string& problem) {
  series.problem_code = code, series.problem = problem;
}

bool has_coinciding_slices(const DicomFrame& plane, const std::vector<std::pair<std::size_t, std::size_t>>& members,
                           const std::vector<DicomHeader>& headers) {
  const auto axes = plane.orientation ? plane_of(*plane.orientation) : std::nullopt;
  if (!axes) return false;
  std::vector<double> along;
  for (const auto& [header, frame] : members)
    if (const auto& position = headers[header].frames[frame].position) along.push_back(dot(*position, axes->normal));
  std::sort(along.begin(), along.end());
  return std::adjacent_find(along.begin(), along.end(), [](double a, double b) { return b - a < kCoincidingMm; }) !=
         along.end();
}

void place_series(DicomSeries& series, bool all_placed) {
  const DicomFrame& frame = series.common.frames[0];
  series.grid.size = {series.common.columns, series.common.rows, static_cast<std::int64_t>(series.slices.size())};
  if (series.common.samples != 1 || !series.common.colours.starts_with("MONOCHROME"))
    return refuse_series(series, "E_READ",
                         "holds " + (series.common.colours.empty() ? "colour" : plain_text(series.common.colours)) +
                             " pixels (colour), expected one number per pixel; export a scalar series");
  if (!frame.spacing || !(*std::min_element(frame.spacing->begin(), frame.spacing->end()) >= kLeastPixelMm))
    return refuse_series(series, "E_SPACING",
                         "has no usable PixelSpacing: how large its pixels are is not known; export it again");
  series.grid.spacing = {(*frame.spacing)[1], (*frame.spacing)[0], series.common.thickness_mm.value_or(1)};
  if (!frame.orientation || !all_placed)
    return refuse_series(
        series, "E_POSITION",
        "has slices without ImagePositionPatient or ImageOrientationPatient: where they lie is not known; export "
        "it again");
  const auto plane = plane_of(*frame.orientation);
  if (!plane)
    return refuse_series(
        series, "E_GEOMETRY",
        "has an ImageOrientationPatient that is not two unit vectors at a right angle; export it again");
  for (DicomSlice& slice : series.slices) slice.along_mm = dot(slice.at, plane->normal);
  std::stable_sort(series.slices.begin(), series.slices.end(),
                   [](const auto& a, const auto& b) { return a.along_mm < b.along_mm; });
  series.grid.origin = series.slices.front().at;
  for (std::size_t r = 0; r < 3; ++r) {
    series.grid.direction[3 * r] = plane->row[r];
    series.grid.direction[3 * r + 1] = plane->column[r];
    series.grid.direction[3 * r + 2] = plane->normal[r];
  }
  if (series.slices.size() > 1) place_slices(series, *plane);
  if (!(series.grid.spacing[2] > 0)) series.grid.spacing[2] = 1;
}

}  // namespace voxshard
