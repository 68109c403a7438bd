#include "pipelines/tasks/segmentation/quality/intensity_quantiles.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

constexpr std::int64_t kSampledPlanes = 16, kSampledOfPlane = 4096;
constexpr double kShareOfBorder = 0.01;  // of the voxels that have the least or the largest value

/// Returns [first, last) of sorted values without the ends that many of them share.
std::pair<std::size_t, std::size_t> inside(const std::vector<float>& sorted) {
  const auto begin = sorted.begin(), end = sorted.end();
  const auto most = static_cast<std::ptrdiff_t>(kShareOfBorder * static_cast<double>(sorted.size()));
  const auto above_least = std::upper_bound(begin, end, sorted.front());
  const auto first = above_least - begin > most ? above_least : begin;
  const auto at_largest = std::lower_bound(first, end, sorted.back());
  const auto last = end - at_largest > most ? at_largest : end;
  return {static_cast<std::size_t>(first - begin), static_cast<std::size_t>(last - begin)};
}

}  // namespace

Quantiles intensity_quantiles(const Shape& shape, const std::function<const float*(std::int64_t)>& plane) {
  const std::int64_t depth = shape[0], in_plane = shape[1] * shape[2];
  const std::int64_t planes = std::min(depth, kSampledPlanes), taken = std::min(in_plane, kSampledOfPlane);
  std::vector<float> sample;
  sample.reserve(static_cast<std::size_t>(planes * taken));
  for (std::int64_t p = 0; p < planes; ++p) {
    const float* voxels = plane((2 * p + 1) * depth / (2 * planes));
    for (std::int64_t i = 0; i < taken; ++i)
      if (const float one = voxels[(2 * i + 1) * in_plane / (2 * taken)]; std::isfinite(one)) sample.push_back(one);
  }
  if (sample.empty()) return {};
  std::sort(sample.begin(), sample.end());
  const auto [first, last] = inside(sample);
  if (first >= last) return {};
  Quantiles found;
  for (std::size_t q = 0; q < kQuantiles; ++q)
    found.push_back(sample[first + (2 * q + 1) * (last - first) / (2 * kQuantiles)]);
  return found;
}

Quantiles intensity_quantiles(const Tensor& image) {
  ensure(image.dtype() == DType::kF32 && image.shape().axes() == 3, "an image is an f32 volume");
  const std::int64_t in_plane = image.shape()[1] * image.shape()[2];
  return intensity_quantiles(image.shape(),
                             [&](std::int64_t plane) { return image.as<const float>() + plane * in_plane; });
}

double quantile_distance(const Quantiles& a, const Quantiles& b) {
  if (a.empty() || b.empty()) return std::numeric_limits<double>::infinity();
  ensure(a.size() == b.size(), "distributions have as many quantiles");
  double sum = 0;
  for (std::size_t q = 0; q < a.size(); ++q) sum += std::abs(static_cast<double>(a[q]) - static_cast<double>(b[q]));
  return sum / static_cast<double>(a.size());
}

}  // namespace voxshard
