#include "io/dicom/series_resample.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace voxshard {
namespace {

/// A slice relative to the first: along the row, the column and the normal, mm.
struct Place {
  double x = 0, y = 0, z = 0;
};

std::vector<Place> places_of(const DicomSeries& series) {
  const auto& d = series.grid.direction;
  const auto& first = series.slices.front().at;
  std::vector<Place> places;
  for (const DicomSlice& slice : series.slices) {
    const auto along = [&](std::size_t axis) {
      double sum = 0;
      for (std::size_t r = 0; r < 3; ++r) sum += (slice.at[r] - first[r]) * d[3 * r + axis];
      return sum;
    };
    places.push_back({along(0), along(1), along(2)});
  }
  return places;
}

/// One slice of the stack, read at continuous indices.
class Slice {
 public:
  Slice(const float* pixels, std::int64_t columns, std::int64_t rows)
      : pixels_(pixels), columns_(columns), rows_(rows) {}

  /// Returns the value at (x, y); `outside` where that lies beyond the centres of the border pixels by more than half a
  /// pixel.
  double at(double x, double y, SliceSampling sampling, double outside) const {
    const double most_x = static_cast<double>(columns_ - 1), most_y = static_cast<double>(rows_ - 1);
    if (x < -0.5 || y < -0.5 || x > most_x + 0.5 || y > most_y + 0.5) return outside;
    x = std::clamp(x, 0.0, most_x), y = std::clamp(y, 0.0, most_y);
    if (sampling == SliceSampling::kNearest)
      return pixel(static_cast<std::int64_t>(std::lround(x)), static_cast<std::int64_t>(std::lround(y)));
    const auto x0 = static_cast<std::int64_t>(x), y0 = static_cast<std::int64_t>(y);
    const std::int64_t x1 = std::min(x0 + 1, columns_ - 1), y1 = std::min(y0 + 1, rows_ - 1);
    const double u = x - static_cast<double>(x0), v = y - static_cast<double>(y0);
    return (1 - v) * ((1 - u) * pixel(x0, y0) + u * pixel(x1, y0)) + v * ((1 - u) * pixel(x0, y1) + u * pixel(x1, y1));
  }

 private:
  double pixel(std::int64_t x, std::int64_t y) const { return static_cast<double>(pixels_[y * columns_ + x]); }
  const float* pixels_;
  std::int64_t columns_, rows_;
};

}  // namespace

bool can_be_resampled(const DicomSeries& series) {
  const std::string_view code = series.problem_code;
  return !series.problem.empty() && (code == "E_GAP" || code == "E_IRREGULAR" || code == "E_TILT");
}

DicomGrid upright_grid(const DicomSeries& series) {
  const std::vector<Place> places = places_of(series);
  std::vector<double> steps;
  for (std::size_t i = 0; i + 1 < places.size(); ++i) steps.push_back(places[i + 1].z - places[i].z);
  std::sort(steps.begin(), steps.end());
  const double length = places.back().z;
  const double count = std::max(1.0, std::round(length / steps[(steps.size() - 1) / 2]));
  DicomGrid grid = series.grid;
  grid.spacing[2] = length / count, grid.size[2] = static_cast<std::int64_t>(count) + 1;
  // The slices lie beside each other where the gantry was tilted: the grid is wider than each of them.
  const auto widen = [&](std::size_t axis, auto of) {
    const auto [low, high] = std::minmax_element(places.begin(), places.end(),
                                                 [&](const Place& a, const Place& b) { return of(a) < of(b); });
    grid.size[axis] += static_cast<std::int64_t>(std::ceil((of(*high) - of(*low)) / grid.spacing[axis] - 1e-6));
    for (std::size_t r = 0; r < 3; ++r) grid.origin[r] += of(*low) * grid.direction[3 * r + axis];
  };
  widen(0, [](const Place& p) { return p.x; });
  widen(1, [](const Place& p) { return p.y; });
  return grid;
}

void resample_slices(const DicomSeries& series, std::span<const float> stack, const DicomGrid& grid,
                     SliceSampling sampling, std::span<float> out) {
  const std::vector<Place> places = places_of(series);
  const std::int64_t columns = series.grid.size[0], rows = series.grid.size[1];
  const double outside = static_cast<double>(*std::min_element(stack.begin(), stack.end()));
  double low_x = 0, low_y = 0;
  for (const Place& place : places) low_x = std::min(low_x, place.x), low_y = std::min(low_y, place.y);
  float* to = out.data();
  for (std::int64_t k = 0; k < grid.size[2]; ++k) {
    const double z = std::min(static_cast<double>(k) * grid.spacing[2], places.back().z);
    // The slices at or below z, and above it.
    const auto above = std::find_if(places.begin() + 1, places.end() - 1, [&](const Place& p) { return p.z > z; });
    const auto b = static_cast<std::size_t>(above - places.begin()), a = b - 1;
    double weight = (z - places[a].z) / (places[b].z - places[a].z);
    if (sampling == SliceSampling::kNearest) weight = weight < 0.5 ? 0 : 1;
    const Slice below(stack.data() + static_cast<std::int64_t>(a) * rows * columns, columns, rows);
    const Slice upper(stack.data() + static_cast<std::int64_t>(b) * rows * columns, columns, rows);
    for (std::int64_t j = 0; j < grid.size[1]; ++j)
      for (std::int64_t i = 0; i < grid.size[0]; ++i) {
        const double x = low_x + static_cast<double>(i) * grid.spacing[0];
        const double y = low_y + static_cast<double>(j) * grid.spacing[1];
        const auto value = [&](const Slice& slice, const Place& place) {
          return slice.at((x - place.x) / grid.spacing[0], (y - place.y) / grid.spacing[1], sampling, outside);
        };
        double sum = weight < 1 ? (1 - weight) * value(below, places[a]) : 0;
        if (weight > 0) sum += weight * value(upper, places[b]);
        *to++ = static_cast<float>(sum);
      }
  }
}

}  // namespace voxshard
