#include "libcore/metrics/surface/distance_transform.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace voxshard {
namespace {

constexpr double kNoSite = std::numeric_limits<double>::infinity();

double square(double x) { return x * x; }

/// Replaces the values of a line by min over q of values[q] + (spacing (p - q))^2. The parabolas of the envelope stand
/// in `roots` from left to right; starts[k] is the position from which the k-th one is the lowest.
class Line {
 public:
  explicit Line(std::int64_t longest)
      : values(static_cast<std::size_t>(longest)), starts_(values.size()), roots_(values.size()) {}

  std::vector<double> values;

  void transform(std::int64_t length, double spacing) {
    std::int64_t parabolas = 0;
    for (std::int64_t q = 0; q < length; ++q) {
      if (value(q) == kNoSite) continue;
      double start = -kNoSite;
      while (parabolas > 0) {
        start = meeting(root(parabolas - 1), q, spacing);
        if (start > starts_[parabolas - 1]) break;
        --parabolas, start = -kNoSite;
      }
      roots_[parabolas] = {q, value(q)};
      starts_[parabolas++] = start;
    }
    std::int64_t k = 0;
    for (std::int64_t p = 0; p < length && parabolas > 0; ++p) {
      while (k + 1 < parabolas && starts_[k + 1] <= static_cast<double>(p)) ++k;
      values[p] = root(k).value + square(spacing * static_cast<double>(p - root(k).at));
    }
  }

 private:
  struct Root {
    std::int64_t at;
    double value;
  };
  const Root& root(std::int64_t k) const { return roots_[k]; }
  double value(std::int64_t q) const { return values[q]; }
  /// The position at which the parabola of q becomes lower than that of an earlier root.
  double meeting(const Root& left, std::int64_t q, double spacing) const {
    const double apart = static_cast<double>(q - left.at), middle = static_cast<double>(q + left.at) / 2;
    return middle + (value(q) - left.value) / (2 * spacing * spacing * apart);
  }

  std::vector<double> starts_;
  std::vector<Root> roots_;
};

void require_spacing(const GridSpacing& spacing_mm) {
  for (const double mm : spacing_mm) ensure(std::isfinite(mm) && mm > 0, "a spacing is finite and above 0 mm");
}

}  // namespace

std::vector<double> squared_distances(const Mask& sites, const GridSpacing& spacing_mm) {
  require_spacing(spacing_mm);
  std::vector<double> map(sites.at.size());
  for (std::size_t i = 0; i < map.size(); ++i) map[i] = sites.at[i] ? 0 : kNoSite;
  Line line(*std::max_element(sites.size.begin(), sites.size.end()));
  const GridSize strides = {sites.size[1] * sites.size[2], sites.size[2], 1};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t length = sites.size[axis], stride = strides[axis];
    const std::int64_t lines = length > 0 ? static_cast<std::int64_t>(map.size()) / length : 0;
    for (std::int64_t l = 0; l < lines; ++l) {
      // Line l begins at its position within `stride`, after whole blocks of length x stride voxels.
      double* first = map.data() + l / stride * stride * length + l % stride;
      for (std::int64_t p = 0; p < length; ++p) line.values[p] = first[p * stride];
      line.transform(length, spacing_mm[axis]);
      for (std::int64_t p = 0; p < length; ++p) first[p * stride] = line.values[p];
    }
  }
  return map;
}

std::vector<double> squared_distances_by_pairs(const Mask& sites, const GridSpacing& spacing_mm) {
  require_spacing(spacing_mm);
  const std::int64_t count = static_cast<std::int64_t>(sites.at.size()), h = sites.size[1], w = sites.size[2];
  const auto place = [&](std::int64_t i) { return GridSize{i / (h * w), i / w % h, i % w}; };
  std::vector<double> map(sites.at.size(), kNoSite);
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t s = 0; s < count; ++s) {
      if (!sites.at[s]) continue;
      const GridSize a = place(i), b = place(s);
      double sum = 0;
      for (std::size_t x = 0; x < 3; ++x) sum += square(spacing_mm[x] * static_cast<double>(a[x] - b[x]));
      map[i] = std::min(map[i], sum);
    }
  return map;
}

}  // namespace voxshard
