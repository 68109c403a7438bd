#include "pipelines/tasks/segmentation/outputs/class_measures.h"

#include <algorithm>
#include <cmath>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

/// A corner of pixels, in pixels.
struct Corner {
  std::int64_t x = 0, y = 0;
};

/// True when b lies on the line from a to c or on its inner side, where the side is walked clockwise and y grows
/// downwards.
bool is_inner(const Corner& a, const Corner& b, const Corner& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) <= 0;
}

/// Returns the corners of one side of the convex hull.
///   corners  in the order in which the side is walked
std::vector<Corner> half_hull(const std::vector<Corner>& corners) {
  std::vector<Corner> hull;
  for (const Corner& corner : corners) {
    while (hull.size() > 1 && is_inner(hull[hull.size() - 2], hull.back(), corner)) hull.pop_back();
    hull.push_back(corner);
  }
  return hull;
}

/// Sums over the voxels of one class.
struct Sums {
  std::int64_t voxels = 0;
  double sum = 0, squares = 0;  // of the differences from the mean
};

}  // namespace

double diameter_mm(const std::vector<RowSpan>& spans, double width, double height) {
  // The left side from the bottom up, then the right side from the top down: clockwise.
  std::vector<Corner> left, right;
  for (const RowSpan& span : spans)
    for (const std::int64_t y : {span.row, span.row + 1})
      left.push_back({span.first, y}), right.push_back({span.last + 1, y});
  std::reverse(left.begin(), left.end());
  std::vector<Corner> hull = half_hull(left), other = half_hull(right);
  hull.insert(hull.end(), other.begin(), other.end());
  double largest = 0;
  for (std::size_t i = 0; i < hull.size(); ++i)
    for (std::size_t k = i + 1; k < hull.size(); ++k) {
      const double x = static_cast<double>(hull[i].x - hull[k].x) * width,
                   y = static_cast<double>(hull[i].y - hull[k].y) * height;
      largest = std::max(largest, x * x + y * y);
    }
  return std::sqrt(largest);
}

std::vector<ClassMeasures> measure_classes(const Volume& labels, const Volume& image,
                                           const std::vector<std::string>& classes) {
  ensure(labels.voxels.shape() == image.voxels.shape(), "an image on the grid of its label map");
  const Geometry& g = labels.geometry;
  const auto* label = labels.voxels.as<std::int32_t>();
  const auto* value = image.voxels.as<float>();
  const auto wanted = [&](std::int32_t one) { return one > 0 && static_cast<std::size_t>(one) < classes.size(); };
  std::vector<ClassMeasures> all(classes.size());
  std::vector<Sums> sums(classes.size());
  std::vector<std::vector<RowSpan>> spans(classes.size());  // of the slice at hand
  std::vector<std::int32_t> here;                           // classes of that slice
  const std::int64_t count = labels.voxels.count();
  for (std::int64_t z = 0, v = 0; z < g.size[2]; ++z) {
    for (std::int64_t y = 0; y < g.size[1]; ++y)
      for (std::int64_t x = 0; x < g.size[0]; ++x, ++v) {
        if (!wanted(label[v])) continue;
        Sums& sum = sums[label[v]];
        ++sum.voxels, sum.sum += value[v];
        std::vector<RowSpan>& own = spans[label[v]];
        if (own.empty()) here.push_back(label[v]);
        if (own.empty() || own.back().row != y) own.push_back({.row = y, .first = x, .last = x});
        own.back().last = x;
      }
    for (const std::int32_t one : here) {
      std::vector<RowSpan>& own = spans[one];
      auto& largest = all[one].diameter_mm;
      largest = std::max(largest.value_or(0), diameter_mm(own, g.spacing[0], g.spacing[1]));
      own.clear();
    }
    here.clear();
  }
  const double voxel_ml = g.spacing[0] * g.spacing[1] * g.spacing[2] / 1000;
  for (std::size_t c = 1; c < all.size(); ++c) {
    all[c].voxels = sums[c].voxels, all[c].volume_ml = static_cast<double>(sums[c].voxels) * voxel_ml;
    if (sums[c].voxels > 0) all[c].mean = sums[c].sum / static_cast<double>(sums[c].voxels);
  }
  for (std::int64_t v = 0; v < count; ++v) {
    if (!wanted(label[v])) continue;
    const double apart = value[v] - *all[label[v]].mean;
    sums[label[v]].squares += apart * apart;
  }
  for (std::size_t c = 1; c < all.size(); ++c)
    if (sums[c].voxels > 0) all[c].deviation = std::sqrt(sums[c].squares / static_cast<double>(sums[c].voxels));
  return all;
}

}  // namespace voxshard
