// The resize is separable: each axis is resized by itself, those that shrink most first. The spline's coefficients c of
// samples x solve (c[k-1] + 4 c[k] + c[k+1]) / 6 = x[k] along an infinite line that repeats the edge samples; the sums
// beyond the edges are geometric series. SciPy pads 12 edge samples instead, which differs by 1e-13 of the range.
#include "io/resampling/spline_resize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

constexpr std::int64_t kColumns = 16;  // lines that are filtered side by side
constexpr std::int64_t kMargin = 2;    // coefficients beyond each end that the outermost samples need

struct Taps {
  std::int64_t first = 0;  // index of the first of four coefficients, -kMargin or more
  std::array<double, 4> weights{};
};

std::vector<Taps> taps_of(std::int64_t from, std::int64_t to) {
  std::vector<Taps> taps(static_cast<std::size_t>(to));
  for (std::int64_t i = 0; i < to; ++i) {
    const double place = sample_place(i, from, to), below = std::floor(place), y = place - below, z = 1 - y;
    Taps& t = taps[i];
    t.first = static_cast<std::int64_t>(below) - 1;
    t.weights = {z * z * z / 6, (y * y * (y - 2) * 3 + 4) / 6, (z * z * (z - 2) * 3 + 4) / 6, y * y * y / 6};
  }
  return taps;
}

/// Lines of `n` samples along one axis; `columns` of them lie `column_step` apart.
struct Lines {
  std::int64_t n = 0, step = 0, columns = 0, column_step = 0;
};

/// Replaces samples by coefficients, of kColumns lines that lie side by side.
///   c  (n + 2 kMargin, kColumns); the samples begin at row kMargin
void prefilter(std::vector<double>& c, std::int64_t n) {
  const double z = std::sqrt(3.0) - 2;
  const auto row = [&](std::int64_t k) { return c.data() + (k + kMargin) * kColumns; };
  std::array<double, kColumns> left{}, right{};
  for (std::int64_t j = 0; j < kColumns; ++j) {
    left[j] = 6 * row(0)[j] / (1 - z);
    right[j] = 6 * row(n - 1)[j] / (1 - z);
    row(0)[j] = left[j];
  }
  for (std::int64_t k = 1; k < n; ++k)
    for (std::int64_t j = 0; j < kColumns; ++j) row(k)[j] = 6 * row(k)[j] + z * row(k - 1)[j];
  for (std::int64_t j = 0; j < kColumns; ++j) {
    const double a = right[j], b = row(n - 1)[j] - a;
    const double even = a / (1 - z), odd = b / (1 - z * z);
    row(n - 1)[j] = -z * (even + odd);
    row(n)[j] = -z * (even + z * odd);
    row(n + 1)[j] = -z * (even + z * z * odd);
  }
  for (std::int64_t k = n - 2; k >= 0; --k)
    for (std::int64_t j = 0; j < kColumns; ++j) row(k)[j] = z * (row(k + 1)[j] - row(k)[j]);
  for (std::int64_t k = -1; k >= -kMargin; --k)
    for (std::int64_t j = 0; j < kColumns; ++j) row(k)[j] = z * (row(k + 1)[j] - left[j]);
}

void resize_lines(const float* from, const Lines& in, float* to, const Lines& out, const std::vector<Taps>& taps) {
  std::vector<double> c(static_cast<std::size_t>((in.n + 2 * kMargin) * kColumns), 0.0);
  for (std::int64_t first = 0; first < in.columns; first += kColumns) {
    const std::int64_t count = std::min(kColumns, in.columns - first);
    for (std::int64_t k = 0; k < in.n; ++k)
      for (std::int64_t j = 0; j < count; ++j)
        c[(k + kMargin) * kColumns + j] = from[(first + j) * in.column_step + k * in.step];
    prefilter(c, in.n);
    for (std::int64_t k = 0; k < out.n; ++k) {
      const Taps& t = taps[k];
      const double* rows = c.data() + (t.first + kMargin) * kColumns;
      for (std::int64_t j = 0; j < count; ++j) {
        double sum = 0;
        for (std::int64_t tap = 0; tap < 4; ++tap) sum += t.weights[tap] * rows[tap * kColumns + j];
        to[(first + j) * out.column_step + k * out.step] = static_cast<float>(sum);
      }
    }
  }
}

Shape with_extent(Shape shape, int axis, std::int64_t extent) {
  shape[axis] = extent;
  return shape;
}

std::int64_t inner_of(const Shape& shape, int axis) {
  std::int64_t inner = 1;
  for (int a = axis + 1; a < 3; ++a) inner *= shape[a];
  return inner;
}

Tensor resize_axis(const Tensor& image, int axis, std::int64_t extent) {
  const Shape shape = image.shape();
  Tensor result(DType::kF32, with_extent(shape, axis, extent));
  const std::int64_t n = shape[axis], inner = inner_of(shape, axis), outer = image.count() / (n * inner);
  const std::vector<Taps> taps = taps_of(n, extent);
  if (inner == 1) {  // lines along the innermost axis lie one behind the other
    resize_lines(image.as<float>(), {n, 1, outer, n}, result.as<float>(), {extent, 1, outer, extent}, taps);
    return result;
  }
  for (std::int64_t o = 0; o < outer; ++o)
    resize_lines(image.as<float>() + o * n * inner, {n, inner, inner, 1}, result.as<float>() + o * extent * inner,
                 {extent, inner, inner, 1}, taps);
  return result;
}

Tensor nearest_slices(const Tensor& image, int axis, std::int64_t extent) {
  const Shape shape = image.shape();
  Tensor result(DType::kF32, with_extent(shape, axis, extent));
  const std::int64_t n = shape[axis], inner = inner_of(shape, axis), outer = image.count() / (n * inner);
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t k = 0; k < extent; ++k)
      std::copy_n(image.as<float>() + (o * n + nearest_sample(k, n, extent)) * inner, inner,
                  result.as<float>() + (o * extent + k) * inner);
  return result;
}

struct Limits {
  float low = 0, high = 0;
};

/// Calls body(slice, value) for each voxel; `slice` counts along an axis, or is 0 without one.
template <class Body>
void for_each_voxel(const Tensor& image, std::optional<int> axis, Body body) {
  const std::int64_t inner = axis ? inner_of(image.shape(), *axis) : image.count();
  const std::int64_t n = axis ? image.shape()[*axis] : 1;
  auto* x = image.as<float>();
  for (std::int64_t row = 0; row < image.count() / inner; ++row)
    for (std::int64_t i = 0; i < inner; ++i) body(static_cast<std::size_t>(row % n), x[row * inner + i]);
}

std::vector<Limits> limits_of(const Tensor& image, std::optional<int> axis) {
  std::vector<Limits> limits(axis ? static_cast<std::size_t>(image.shape()[*axis]) : 1, {INFINITY, -INFINITY});
  for_each_voxel(image, axis, [&](std::size_t slice, float x) {
    limits[slice] = {std::min(limits[slice].low, x), std::max(limits[slice].high, x)};
  });
  return limits;
}

}  // namespace

std::int64_t nearest_sample(std::int64_t i, std::int64_t from, std::int64_t to) {
  const double place = std::clamp(sample_place(i, from, to), 0.0, static_cast<double>(from - 1));
  return std::min(static_cast<std::int64_t>(std::floor(place + 0.5)), from - 1);
}

Tensor resize_spline(Tensor image, const Shape& shape, std::optional<int> slices) {
  ensure(image.dtype() == DType::kF32 && image.shape().axes() == 3 && image.count() > 0, "an image is (D, H, W) f32");
  const auto ratio = [&](int a) { return static_cast<double>(shape[a]) / static_cast<double>(image.shape()[a]); };
  std::vector<int> axes;
  for (int a = 0; a < 3; ++a)
    if (a != slices && shape[a] != image.shape()[a]) axes.push_back(a);
  std::stable_sort(axes.begin(), axes.end(), [&](int a, int b) { return ratio(a) < ratio(b); });
  if (!axes.empty()) {
    const std::vector<Limits> limits = limits_of(image, slices);
    for (const int axis : axes) image = resize_axis(image, axis, shape[axis]);
    for_each_voxel(image, slices,
                   [&](std::size_t slice, float& x) { x = std::clamp(x, limits[slice].low, limits[slice].high); });
  }
  if (slices && shape[*slices] != image.shape()[*slices]) image = nearest_slices(image, *slices, shape[*slices]);
  return image;
}

}  // namespace voxshard
