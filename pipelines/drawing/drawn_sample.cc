#include "pipelines/drawing/drawn_sample.h"

#include <algorithm>
#include <vector>

#include "io/image/image_reader.h"
#include "io/image/image_resize.h"
#include "io/resampling/resample.h"
#include "pipelines/phantoms/detection_phantom.h"
#include "pipelines/phantoms/phantom.h"

namespace voxshard {
namespace {

constexpr std::int64_t kMostSide = 2048;       // more pixels than are drawn
constexpr std::int64_t kMostRanked = 1 << 20;  // voxels used for the percentiles

struct Grey {
  float low, high;
};

Grey grey_of(const Tensor& voxels) {
  const std::int64_t step = std::max<std::int64_t>(1, voxels.count() / kMostRanked);
  std::vector<float> some;
  for (std::int64_t i = 0; i < voxels.count(); i += step) some.push_back(voxels.as<float>()[i]);
  const auto percentile = [&](double share) {
    const auto at = some.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(some.size() - 1));
    std::nth_element(some.begin(), at, some.end());
    return *at;
  };
  const float low = percentile(0.005);
  return {low, std::max(low + 1e-6f, percentile(0.995))};
}

}  // namespace

DrawnSample::DrawnSample(std::string name, Tensor voxels) : name_(std::move(name)), voxels_(std::move(voxels)) {
  ensure(voxels_.shape().axes() == 3 && voxels_.count() > 0, "a sample has voxels");
  if (voxels_.dtype() == DType::kU8) return;
  const Grey grey = grey_of(voxels_);
  low_ = grey.low, high_ = grey.high;
}

Dims DrawnSample::extents() const {
  const Shape& s = voxels_.shape();
  return voxels_.dtype() == DType::kU8 ? Dims{s[0], s[1]} : s;
}

Tensor DrawnSample::view(const SamplePlane& plane, const Dims& padded, const Dims& level) const {
  const Dims size = extents(), strides = dense_strides(voxels_.shape());
  const bool is_image = voxels_.dtype() == DType::kU8;
  const int rows = is_image || plane.fixed_axis == 0 ? (is_image ? 0 : 1) : 0, columns = is_image                ? 1
                                                                                         : plane.fixed_axis == 2 ? 1
                                                                                                                 : 2;
  // Index of the sample's voxel that contains the centre of the level's voxel.
  const auto from_level = [&](int axis, std::int64_t at) { return (2 * at + 1) * padded[axis] / (2 * level[axis]); };
  const std::int64_t fixed = is_image ? 0 : from_level(plane.fixed_axis, plane.at);
  const bool inside = is_image || fixed < size[plane.fixed_axis];
  // Extent of the sample without padding, in voxels of the level.
  const auto share = [&](int axis) {
    return std::clamp<std::int64_t>((2 * size[axis] * level[axis] + padded[axis]) / (2 * padded[axis]), 1, level[axis]);
  };
  Tensor slice(DType::kF32, {size[rows], size[columns], 3});
  for (std::int64_t r = 0; r < size[rows]; ++r)
    for (std::int64_t c = 0; c < size[columns]; ++c)
      for (std::int64_t k = 0; k < 3; ++k) {
        const std::int64_t at = r * strides[rows] + c * strides[columns] +
                                (is_image ? k
                                 : inside ? fixed * strides[plane.fixed_axis]
                                          : 0);
        const float value = is_image ? static_cast<float>(voxels_.as<std::uint8_t>()[at]) / 255.0f
                                     : (voxels_.as<float>()[at] - low_) / (high_ - low_);
        slice.as<float>()[(r * size[columns] + c) * 3 + k] = inside ? std::clamp(value, 0.0f, 1.0f) : 0.0f;
      }
  const Dims there = {share(rows), share(columns)};
  const auto coarse = [](std::int64_t side, std::int64_t of) {
    return std::max<std::int64_t>(1, of > kMostSide ? side * kMostSide / of : side);
  };
  const Dims all = {coarse(level[rows], level[rows]), coarse(level[columns], level[columns])};
  const Tensor part = resized(slice, coarse(there[0], level[rows]), coarse(there[1], level[columns]));
  Tensor view(DType::kU8, {all[0], all[1], 3});
  for (std::int64_t r = 0; r < part.shape()[0]; ++r)
    for (std::int64_t i = 0; i < part.shape()[1] * 3; ++i)
      view.as<std::uint8_t>()[r * all[1] * 3 + i] =
          static_cast<std::uint8_t>(part.as<float>()[r * part.shape()[1] * 3 + i] * 255.0f + 0.5f);
  return view;
}

DrawnSample read_drawn_sample(const std::filesystem::path& file, int spatial_axes, const VolumeFormats& formats) {
  std::error_code error;
  std::string name = file.filename().string();
  if (is_volume_address(file)) name = volume_stem(file).value_or(name);
  if (std::filesystem::is_directory(file, error)) name = "series";  // folders of scans are named after patients
  if (spatial_axes == 3) return {name, reorient(read_image(file, formats), "LPS").voxels};
  return {name, ImageReader().read(file)};
}

DrawnSample phantom_sample(int spatial_axes) {
  if (spatial_axes == 3) return {"phantom_000", reorient(make_phantom({.subdivide = 2}).image, "LPS").voxels};
  return {"phantom_000", make_detection_phantom({.magnify = 4}).pixels};
}

}  // namespace voxshard
