#include "io/structures/segmentation_on_image.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/files/file_error.h"
#include "io/structures/steady_index.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

/// A line of voxels may leave the other grid's line by this part of a voxel.
constexpr double kMostDrift = 0.25;
/// Grids whose voxels lie closer than this part of a voxel have the same voxels.
constexpr double kSameVoxel = 0.01;

/// The voxel index along one axis of the segmentation, as a line over the index along one axis of the image.
struct Line {
  std::size_t axis = 0;  // of the segmentation
  double begin = 0, step = 1;

  double at(std::int64_t index) const { return steady_index(begin + step * static_cast<double>(index)); }
  bool same_voxels() const {
    return std::abs(std::abs(step) - 1) <= kSameVoxel && std::abs(begin - std::round(begin)) <= kSameVoxel;
  }
};

/// Returns a line for each axis of the image. Errors: E_GEOMETRY for axes that are not parallel.
std::array<Line, 3> lines_of(const Geometry& seg, const Geometry& image, const std::filesystem::path& path) {
  const std::array<double, 3> begin = seg.index_of(image.world({0, 0, 0}));
  std::array<Line, 3> lines;
  std::array<bool, 3> taken{};
  double drift = 0, angle = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    std::array<double, 3> one{};
    one[a] = 1;
    std::array<double, 3> step = seg.index_of(image.world(one));
    std::array<double, 3> cosine{};
    for (std::size_t b = 0; b < 3; ++b) {
      step[b] -= begin[b];
      cosine[b] = std::min(1.0, std::abs(step[b]) * seg.spacing[b] / image.spacing[a]);
    }
    const auto nearest = static_cast<std::size_t>(std::max_element(cosine.begin(), cosine.end()) - cosine.begin());
    angle = std::max(angle, std::acos(cosine[nearest]) * 180 / std::numbers::pi);
    lines[a] = {.axis = nearest, .begin = begin[nearest], .step = step[nearest]};
    if (std::exchange(taken[nearest], true)) drift = kMostDrift + 1;
    for (std::size_t b = 0; b < 3; ++b)
      if (b != nearest) drift = std::max(drift, std::abs(step[b]) * static_cast<double>(image.size[a] - 1));
  }
  if (drift > kMostDrift)
    throw input_error(path, "is turned against its image by " + fixed_text(angle, 2) + " degrees",
                      "give the image that it was made on, or export it on that image's grid", "E_GEOMETRY");
  return lines;
}

/// Returns which voxels of the segmentation along the line's axis have their centre in the image.
std::vector<bool> within(const Line& line, std::int64_t seg_size, std::int64_t image_size) {
  std::vector<bool> inside(static_cast<std::size_t>(seg_size));
  for (std::int64_t i = 0; i < seg_size; ++i) {
    const double index = (static_cast<double>(i) - line.begin) / line.step;
    inside[i] = index >= -0.5 && index < static_cast<double>(image_size) - 0.5;
  }
  return inside;
}

/// Returns the offset of the nearest voxel of the segmentation for each index along an axis of the image; -1 outside.
std::vector<std::int64_t> offsets_of(const Line& line, std::int64_t seg_size, std::int64_t stride,
                                     std::int64_t image_size) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t i = 0; i < image_size; ++i) {
    const double nearest = std::floor(line.at(i) + 0.5);
    const bool inside = nearest >= 0 && nearest < static_cast<double>(seg_size);
    offsets.push_back(inside ? static_cast<std::int64_t>(nearest) * stride : -1);
  }
  return offsets;
}

std::int64_t count_outside(const std::vector<float>& labels, const std::array<std::int64_t, 3>& size,
                           const std::array<std::vector<bool>, 3>& inside) {
  std::int64_t outside = 0;
  std::size_t at = 0;
  for (std::size_t z = 0; z < static_cast<std::size_t>(size[2]); ++z)
    for (std::size_t y = 0; y < static_cast<std::size_t>(size[1]); ++y)
      for (std::size_t x = 0; x < static_cast<std::size_t>(size[0]); ++x, ++at)
        outside += labels[at] != 0 && !(inside[0][x] && inside[1][y] && inside[2][z]);
  return outside;
}

}  // namespace

OnImage segmentation_on_image(const DicomSegmentation& segmentation, const Geometry& image,
                              const std::map<int, int>& class_of_structure, double least_fraction) {
  const std::filesystem::path& path = segmentation.header.file;
  if (!segmentation.problem.empty())
    throw Error(ErrorKind::kInput, segmentation.problem_code, "[input] " + path.string() + ": " + segmentation.problem);
  const DicomGrid& grid = segmentation.grid;
  const Geometry seg{.size = grid.size, .origin = grid.origin, .spacing = grid.spacing, .direction = grid.direction};
  const std::array<Line, 3> lines = lines_of(seg, image, path);
  const std::array<std::int64_t, 3> stride{1, seg.size[0], seg.size[0] * seg.size[1]};
  std::array<std::vector<std::int64_t>, 3> offsets;  // by axis of the image
  std::array<std::vector<bool>, 3> inside;           // by axis of the segmentation
  OnImage found{.volume = {image, Tensor(DType::kI32, image.shape())}};
  for (std::size_t a = 0; a < 3; ++a) {
    const Line& line = lines[a];
    offsets[a] = offsets_of(line, seg.size[line.axis], stride[line.axis], image.size[a]);
    inside[line.axis] = within(line, seg.size[line.axis], image.size[a]);
    found.same_voxels = found.same_voxels && line.same_voxels();
    if (std::all_of(offsets[a].begin(), offsets[a].end(), [](std::int64_t offset) { return offset < 0; }))
      throw input_error(path, "shares no place with its image", "give the image that it was made on", "E_GEOMETRY");
  }
  std::vector<float> labels(static_cast<std::size_t>(voxels_of(seg)));
  const SegmentCounts counts = read_segmentation(
      segmentation, labels, {.class_of_segment = &class_of_structure, .least_fraction = least_fraction});
  found.shared = counts.shared, found.partial = counts.partial;
  found.outside = count_outside(labels, seg.size, inside);
  auto* out = found.volume.voxels.as<std::int32_t>();
  for (const std::int64_t z : offsets[2])
    for (const std::int64_t y : offsets[1])
      for (const std::int64_t x : offsets[0])
        *out++ = x < 0 || y < 0 || z < 0 ? 0 : static_cast<std::int32_t>(labels[x + y + z]);
  return found;
}

}  // namespace voxshard
