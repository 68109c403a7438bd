#include "pipelines/tasks/segmentation/sheet/sheet_case.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "io/resampling/resample.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/tasks/segmentation/scores/case_slices.h"

namespace voxshard {
namespace {

using Json = nlohmann::ordered_json;
using PlanesByAxis = std::array<std::vector<std::int64_t>, 3>;

constexpr double kMmToMl = 1e-3;

/// The voxels of each label, and the labelled voxels of each plane of the axes (D, H, W).
struct CountedLabels {
  std::map<int, std::int64_t> voxels;
  PlanesByAxis labelled;
};

CountedLabels count_labels(const Tensor& labels) {
  const Shape shape = labels.shape();
  CountedLabels counted;
  for (std::size_t a = 0; a < 3; ++a) counted.labelled[a].resize(shape[static_cast<int>(a)]);
  const auto* label = labels.as<const std::int32_t>();
  const auto plane = [&](std::size_t axis, std::int64_t at) -> std::int64_t& { return counted.labelled[axis][at]; };
  for (std::int64_t d = 0; d < shape[0]; ++d)
    for (std::int64_t h = 0; h < shape[1]; ++h) {
      const auto* end = label + shape[2];
      for (const auto* at = label; at < end;) {  // by runs of one label, which are long
        const auto* stop = std::find_if(at, end, [&](std::int32_t other) { return other != *at; });
        counted.voxels[*at] += stop - at;
        if (*at > 0) {
          plane(0, d) += stop - at, plane(1, h) += stop - at;
          for (std::int64_t w = at - label; w < stop - label; ++w) ++plane(2, w);
        }
        at = stop;
      }
      label = end;
    }
  return counted;
}

/// Returns so many planes of an axis, evenly spaced between the first and the last labelled one; a single one is that
/// with the most labelled voxels.
std::vector<std::int64_t> chosen_planes(const std::vector<std::int64_t>& labelled, std::int64_t most) {
  const auto is_labelled = [](std::int64_t voxels) { return voxels > 0; };
  std::int64_t begin = std::ranges::find_if(labelled, is_labelled) - labelled.begin(), end = std::ssize(labelled);
  if (begin == end)
    begin = 0;
  else
    while (!is_labelled(labelled[end - 1])) --end;
  const std::int64_t extent = end - begin, count = std::min(most, extent);
  if (count == 1 && extent > 1) {
    const auto top = std::ranges::max_element(labelled);
    return {*top > 0 ? top - labelled.begin() : std::ssize(labelled) / 2};
  }
  std::vector<std::int64_t> planes;
  for (std::int64_t i = 0; i < count; ++i) planes.push_back(begin + (2 * i + 1) * extent / (2 * count));
  return planes;
}

template <class T>
std::vector<T> samples_of_volume(const SlicePlan& plan, const Tensor& volume) {
  std::vector<T> samples(static_cast<std::size_t>(plan.samples()));
  const Shape shape = volume.shape();
  const auto strides = dense_strides(shape);
  plan.each_in(Box::whole(shape), [&](std::size_t sample, std::int64_t d, std::int64_t h, std::int64_t w) {
    samples[sample] = volume.as<const T>()[d * strides[0] + h * strides[1] + w * strides[2]];
  });
  return samples;
}

Json volumes_of(const CountedLabels& counted, const std::vector<std::string>& names,
                const std::array<double, 3>& spacing) {
  std::map<int, std::int64_t> voxels = counted.voxels;
  for (std::size_t c = 1; c < names.size(); ++c) voxels.try_emplace(static_cast<int>(c), 0);
  Json volumes = Json::array();
  for (const auto& [label, count] : voxels) {
    if (label <= 0) continue;
    const auto c = static_cast<std::size_t>(label);
    volumes.push_back({{"class", c < names.size() ? names[c] : "class " + std::to_string(label)},
                       {"voxels", count},
                       {"ml", static_cast<double>(count) * spacing[0] * spacing[1] * spacing[2] * kMmToMl}});
  }
  return volumes;
}

/// The values that the bytes 0 and 255 of an image are.
struct GreyRange {
  float low = 0, high = 0;
};

GreyRange percentiles(std::vector<float> values) {
  if (values.empty()) return {};
  const auto at = [&](double share) {
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), place, values.end());
    return *place;
  };
  constexpr double kLow = 0.005, kHigh = 0.995;
  const float low = at(kLow), high = at(kHigh);
  return {low, high};
}

/// Adds the samples of the image and their range; null when there is none, or the code of why it is not shown.
Json read_image_samples(const SheetCase& item, const Volume& labels, const SlicePlan& plan,
                        const VolumeFormats& formats, std::vector<float>& samples) {
  if (item.image.empty()) return nullptr;
  std::string code;
  const auto failure = failure_of(item.id, {ErrorKind::kInput, ErrorKind::kConfig}, [&] {
    const Volume image = reorient(read_image(item.image, formats), "LPS");
    constexpr double kTolerance = 1e-2;
    if (same_geometry(image.geometry, labels.geometry, kTolerance))
      samples = samples_of_volume<float>(plan, image.voxels);
    else
      code = "E_GEOMETRY";
  });
  if (failure) code = failure->code;
  return code.empty() ? Json() : Json(code);
}

}  // namespace

std::int64_t most_bytes(const SheetLimits& limits, const Shape& size) {
  constexpr std::int64_t kImages = 2, kRest = 2048;
  std::int64_t samples = 0;
  for (int axis = 0; axis < 3; ++axis) {
    std::int64_t of_axis = std::min(limits.planes, size[axis]);
    for (int side = 0; side < 3; ++side)
      if (side != axis) of_axis *= std::min(limits.side, size[side]);
    samples += of_axis;
  }
  return samples * kImages * 4 / 3 + kRest;
}

Json sheet_case(const SheetCase& item, const std::vector<std::string>& names, const SheetLimits& limits,
                const VolumeFormats& formats) {
  Volume labels = reorient(read_label(item.labels, formats), "LPS");
  const Geometry& geometry = labels.geometry;
  const CountedLabels counted = count_labels(labels.voxels);
  Json one = {{"case", item.id},
              {"size", geometry.size},
              {"spacing_mm", geometry.spacing},
              {"volumes", volumes_of(counted, names, geometry.spacing)}};
  if (limits.planes < 1) return one;
  PlanesByAxis planes;
  for (std::size_t a = 0; a < 3; ++a) planes[a] = chosen_planes(counted.labelled[a], limits.planes);
  const SlicePlan plan(labels.voxels.shape(), std::move(planes), limits.side);
  std::vector<std::uint8_t> found;
  for (const std::int32_t label : samples_of_volume<std::int32_t>(plan, labels.voxels))
    found.push_back(static_cast<std::uint8_t>(std::clamp<std::int32_t>(label, 0, 255)));
  labels.voxels = {};  // before the image is read
  std::vector<float> values;
  one["image"] = read_image_samples(item, labels, plan, formats, values);
  std::vector<PlaneImage> images = {{"prediction", found}};
  std::vector<std::uint8_t> grey;
  if (!values.empty()) {
    const GreyRange range = percentiles(values);
    one["low"] = range.low, one["high"] = range.high;
    grey = grey_bytes(values, range.low, range.high);
    images.push_back({"image", grey});
  }
  one["planes"] = planes_json(plan, geometry.spacing, images);
  for (int a = 0; a < 3; ++a) {
    const std::vector<std::int64_t>& at = plan.planes(a);
    const auto labelled = [&](std::int64_t plane) { return counted.labelled[a][plane]; };
    one["planes"][a]["start"] = std::ranges::max_element(at, {}, labelled) - at.begin();
  }
  return one;
}

}  // namespace voxshard
