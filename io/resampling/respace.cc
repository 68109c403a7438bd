#include "io/resampling/respace.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace voxshard {
namespace {

/// Where the samples of one axis lie: between `low` and `high`, at `weight` of the way.
struct AxisPlaces {
  std::vector<std::int64_t> low, high, nearest;
  std::vector<double> weight;

  AxisPlaces(std::int64_t from, std::int64_t to) {
    for (std::int64_t j = 0; j < to; ++j) {
      const double at = (static_cast<double>(j) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5;
      const double within = std::clamp(at, 0.0, static_cast<double>(from - 1));
      low.push_back(static_cast<std::int64_t>(within));
      high.push_back(std::min(low.back() + 1, from - 1));
      weight.push_back(within - static_cast<double>(low.back()));
      nearest.push_back(static_cast<std::int64_t>(std::floor(within + 0.5)));
    }
  }
};

/// Releases the slices of a volume that is read from its first slice to its last.
class ReadOnce {
 public:
  explicit ReadOnce(Tensor& volume)
      : volume_(volume), slice_bytes_(volume.bytes() / std::max<std::int64_t>(volume.shape()[0], 1)) {}
  /// No slice before `slice` is read again.
  void need_from(std::int64_t slice) {
    if (slice * slice_bytes_ - released_ < kPiece) return;
    volume_.release(released_, slice * slice_bytes_);
    released_ = slice * slice_bytes_;
  }

 private:
  static constexpr std::int64_t kPiece = std::int64_t{1} << 20;  // bytes per call
  Tensor& volume_;
  std::int64_t slice_bytes_, released_ = 0;
};

}  // namespace

Tensor resize_linear(Tensor from, const Shape& shape) {
  Tensor to = Tensor::unwritten(DType::kF32, shape);
  ReadOnce slices(from);
  const Shape n = from.shape(), m = shape;
  const AxisPlaces zs(n[0], m[0]), ys(n[1], m[1]), xs(n[2], m[2]);
  std::vector<double> row(static_cast<std::size_t>(n[2]));  // between the four rows around a sample
  const std::int64_t *x_low = xs.low.data(), *x_high = xs.high.data();
  const double* x_weight = xs.weight.data();
  const float* voxels = from.as<float>();
  float* out = to.as<float>();
  for (std::size_t z = 0; z < zs.low.size(); ++z) {
    slices.need_from(zs.low[z]);
    for (std::size_t y = 0; y < ys.low.size(); ++y) {
      const auto row_at = [&](std::int64_t k, std::int64_t j) { return voxels + (k * n[1] + j) * n[2]; };
      const float *a = row_at(zs.low[z], ys.low[y]), *b = row_at(zs.low[z], ys.high[y]);
      const float *c = row_at(zs.high[z], ys.low[y]), *d = row_at(zs.high[z], ys.high[y]);
      const double v = ys.weight[y], w = zs.weight[z];
      for (std::size_t x = 0; x < row.size(); ++x) {
        const double below = (1 - v) * static_cast<double>(a[x]) + v * static_cast<double>(b[x]);
        const double above = (1 - v) * static_cast<double>(c[x]) + v * static_cast<double>(d[x]);
        row[x] = (1 - w) * below + w * above;
      }
      const double* between = row.data();
      for (std::int64_t x = 0; x < m[2]; ++x) {
        const double u = x_weight[x];
        out[x] = static_cast<float>((1 - u) * between[x_low[x]] + u * between[x_high[x]]);
      }
      out += m[2];
    }
  }
  return to;
}

namespace {

/// `before_slice(z)` is called before slice z of the result is made.
template <class Label, class BeforeSlice>
Tensor samples(const Tensor& from, const SamplePlaces& at, const BeforeSlice& before_slice) {
  Tensor to = Tensor::unwritten(from.dtype(), {std::ssize(at.z), std::ssize(at.y), std::ssize(at.x)});
  const Label* voxels = from.as<Label>();
  Label* out = to.as<Label>();
  for (std::size_t z = 0; z < at.z.size(); ++z) {
    before_slice(z);
    for (std::size_t y = 0; y < at.y.size(); ++y, out += at.x.size()) {
      if (at.z[z] < 0 || at.y[y] < 0) {
        std::fill_n(out, at.x.size(), Label{0});
      } else if (y > 0 && at.y[y] == at.y[y - 1]) {  // most rows, where a grid becomes finer
        std::copy_n(out - at.x.size(), at.x.size(), out);
      } else {
        const Label* row = voxels + at.z[z] + at.y[y];
        std::transform(at.x.begin(), at.x.end(), out, [&](std::int64_t x) { return x < 0 ? Label{0} : row[x]; });
      }
    }
  }
  return to;
}

template <class BeforeSlice>
Tensor samples_of(const Tensor& from, const SamplePlaces& at, const BeforeSlice& before_slice) {
  if (from.dtype() == DType::kU8) return samples<std::uint8_t>(from, at, before_slice);
  return samples<std::int32_t>(from, at, before_slice);
}

std::vector<std::int64_t> times(std::vector<std::int64_t> indices, std::int64_t stride) {
  for (std::int64_t& index : indices) index *= stride;
  return indices;
}

}  // namespace

Tensor resize_nearest(Tensor from, const Shape& shape) {
  ReadOnce slices(from);
  const Shape n = from.shape();
  const AxisPlaces zs(n[0], shape[0]), ys(n[1], shape[1]), xs(n[2], shape[2]);
  return samples_of(from, {times(zs.nearest, n[1] * n[2]), times(ys.nearest, n[2]), xs.nearest},
                    [&](std::size_t z) { slices.need_from(zs.nearest[z]); });
}

Tensor samples_at(const Tensor& from, const SamplePlaces& places) {
  return samples_of(from, places, [](std::size_t) {});
}

}  // namespace voxshard
