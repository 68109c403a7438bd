#include "pipelines/tasks/segmentation/scores/case_slices.h"

#include <algorithm>
#include <cmath>

#include "io/records/base64.h"
#include "io/volume/mapped_volume.h"

namespace voxshard {
namespace {

constexpr const char* kPlaneNames[] = {"axial", "coronal", "sagittal"};

/// Reads the samples of every plane, one plane at a time.
template <class T>
std::vector<T> samples_of(const SlicePlan& plan, const MappedVolume& volume, DType type) {
  std::vector<T> samples(static_cast<std::size_t>(plan.samples()));
  const Shape shape = volume.shape();
  for (int axis = 0; axis < 3; ++axis)
    for (const std::int64_t at : plan.planes(axis)) {
      Box box{.begin = {0, 0, 0}, .extent = shape};
      box.set(axis, at, at + 1);
      const Tensor values(type, box.extent);
      volume.read_box(box, values.view());
      const auto strides = dense_strides(box.extent);
      plan.each_in(box, [&](std::size_t sample, std::int64_t d, std::int64_t h, std::int64_t w) {
        const std::int64_t offset =
            (d - box.begin[0]) * strides[0] + (h - box.begin[1]) * strides[1] + (w - box.begin[2]) * strides[2];
        samples[sample] = values.as<T>()[offset];
      });
    }
  volume.forget();
  return samples;
}

}  // namespace

SlicePlan::SlicePlan(const Shape& volume) : SlicePlan(volume, {}, kMostSliceSide) {
  for (int a = 0; a < 3; ++a) {
    const std::int64_t count = std::min(kMostSlices, volume[a]);
    for (std::int64_t i = 0; i < count; ++i) planes_[a].push_back((2 * i + 1) * volume[a] / (2 * count));
  }
}

SlicePlan::SlicePlan(const Shape& volume, std::array<std::vector<std::int64_t>, 3> planes, std::int64_t most_side)
    : shape_(volume), planes_(std::move(planes)) {
  for (int a = 0; a < 3; ++a) strides_[a] = (volume[a] + most_side - 1) / most_side;
}

std::int64_t SlicePlan::side(int axis) const { return (shape_[axis] + stride(axis) - 1) / stride(axis); }

std::int64_t SlicePlan::samples(int axis) const {
  return std::ssize(planes(axis)) * side(axis == 0 ? 1 : 0) * side(axis == 2 ? 1 : 2);
}

std::int64_t slice_bytes(const Shape& volume, std::int64_t cases) {
  const std::int64_t samples = SlicePlan(volume).samples(),
                     plane = volume[0] * volume[1] * volume[2] /
                             std::max<std::int64_t>(1, std::min({volume[0], volume[1], volume[2]}));
  // Bytes of a sample: of the case that is collected 1 of the prediction, 4 of the image, 4 of the reference, and the
  // largest plane of the files in 4 each; of each kept case 3 in base 64, which are 4, and as many of their copy.
  return (1 + 4 + 4) * samples + 4 * plane + 2 * cases * 4 * samples;
}

nlohmann::ordered_json slices_json(const SlicePlan& plan, const PreparedCase& item, const PreparePlan& prepared,
                                   std::span<const std::uint8_t> labels) {
  const MappedVolume image = MappedVolume::open(item.images.front());
  const std::vector<float> values = samples_of<float>(plan, image, DType::kF32);
  float low = 0, high = 0;
  for (bool first = true; const float value : values)
    if (std::isfinite(value)) {
      low = first ? value : std::min(low, value), high = first ? value : std::max(high, value);
      first = false;
    }
  const std::vector<std::uint8_t> bytes = grey_bytes(values, low, high);
  std::vector<std::uint8_t> reference;
  for (const std::int32_t label : samples_of<std::int32_t>(plan, MappedVolume::open(item.label), DType::kI32))
    reference.push_back(label >= 0 && label < prepared.classes() ? static_cast<std::uint8_t>(label) : 0);
  return {{"case", item.id},
          {"low", low},
          {"high", high},
          {"planes", planes_json(plan, image.geometry().spacing,
                                 {{"image", bytes}, {"reference", reference}, {"prediction", labels}})}};
}

nlohmann::ordered_json planes_json(const SlicePlan& plan, const std::array<double, 3>& spacing_mm,
                                   const std::vector<PlaneImage>& images) {
  nlohmann::ordered_json planes = nlohmann::ordered_json::array();
  std::size_t first = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const int row = axis == 0 ? 1 : 0, column = axis == 2 ? 1 : 2;
    const auto count = static_cast<std::size_t>(plan.samples(axis));
    const auto mm = [&](int a) {  // x, y, z are the axes 2, 1, 0
      return spacing_mm[2 - a] * static_cast<double>(plan.stride(a));
    };
    nlohmann::ordered_json plane = {{"plane", kPlaneNames[axis]}, {"at", plan.planes(axis)},
                                    {"rows", plan.side(row)},     {"columns", plan.side(column)},
                                    {"row_mm", mm(row)},          {"column_mm", mm(column)}};
    for (const PlaneImage& image : images) plane[image.name] = base64_text(image.samples.subspan(first, count));
    planes.push_back(std::move(plane));
    first += count;
  }
  return planes;
}

std::vector<std::uint8_t> grey_bytes(std::span<const float> values, float low, float high) {
  std::vector<std::uint8_t> bytes(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (high > low && std::isfinite(values[i]))
      bytes[i] = static_cast<std::uint8_t>(std::lround(255 * (std::clamp(values[i], low, high) - low) / (high - low)));
  return bytes;
}

}  // namespace voxshard
