// Slices of a validated case for the page of its run: up to 24 planes along each axis, coarser where a plane is larger
// than 128 voxels, with the image in 8 bits, the reference and the prediction. Cores give the labels of the voxels that
// they own, so that no process holds a volume.
//
//   const SlicePlan plan(item.shape);
//   plan.each_in(box, [&](std::size_t at, std::int64_t d, std::int64_t h, std::int64_t w) { ... });  // on every core
//   slices = slices_json(plan, item, labels, ...);                                                   // on the first
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "libcore/tensor/box.h"
#include "libcore/tensor/tensor.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"

namespace voxshard {

inline constexpr std::int64_t kMostSlices = 24, kMostSliceSide = 128;

/// The sampled voxels of a volume, plane by plane: axis 0 (axial), 1 (coronal), 2 (sagittal) of (D, H, W).
class SlicePlan {
 public:
  explicit SlicePlan(const Shape& volume);
  /// Chosen planes of each axis, ascending, with at most `most_side` samples along a row or column.
  SlicePlan(const Shape& volume, std::array<std::vector<std::int64_t>, 3> planes, std::int64_t most_side);

  /// The positions of the planes of an axis, ascending, evenly spaced: all of a short one.
  const std::vector<std::int64_t>& planes(int axis) const { return planes_[axis]; }
  /// Every `stride(axis)`th voxel along a plane's rows or columns is sampled.
  std::int64_t stride(int axis) const { return strides_[axis]; }
  /// The samples along an axis, when it is a row or a column of a plane.
  std::int64_t side(int axis) const;
  /// The samples of the planes of an axis; of all planes.
  std::int64_t samples(int axis) const;
  std::int64_t samples() const { return samples(0) + samples(1) + samples(2); }

  /// Calls `visit` with the number of each sample that lies in `box` (D, H, W), and its voxel. Numbers go by axis,
  /// plane, row and column.
  template <class Visit>
  void each_in(const Box& box, Visit visit) const {
    std::int64_t first = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const int row = axis == 0 ? 1 : 0, column = axis == 2 ? 1 : 2;
      for (const std::int64_t at : planes(axis)) {
        if (at >= box.begin[axis] && at < box.end(axis))
          for (std::int64_t r = 0; r < side(row); ++r)
            for (std::int64_t c = 0; c < side(column); ++c) {
              std::array<std::int64_t, 3> voxel{};
              voxel[axis] = at;
              voxel[row] = r * stride(row);
              voxel[column] = c * stride(column);
              if (lies_in_box(voxel, box))
                visit(static_cast<std::size_t>(first + r * side(column) + c), voxel[0], voxel[1], voxel[2]);
            }
        first += side(row) * side(column);
      }
    }
  }

 private:
  static bool lies_in_box(const std::array<std::int64_t, 3>& voxel, const Box& box) {
    for (int a = 0; a < 3; ++a)
      if (voxel[a] < box.begin[a] || voxel[a] >= box.end(a)) return false;
    return true;
  }

  Shape shape_;
  std::array<std::vector<std::int64_t>, 3> planes_;
  std::array<std::int64_t, 3> strides_{};
};

/// An image of the planes, with a byte for each sample of the plan, and its name in JSON.
struct PlaneImage {
  const char* name;
  std::span<const std::uint8_t> samples;
};

/// Returns the planes as the page's script reads them, [{"plane", "at", "rows", "columns", "row_mm", "column_mm"}] with
/// the images in base 64.
///   spacing_mm  of the volume along x, y, z
nlohmann::ordered_json planes_json(const SlicePlan& plan, const std::array<double, 3>& spacing_mm,
                                   const std::vector<PlaneImage>& images);

/// Returns bytes 0 to 255 for the values `low` to `high`; what lies beyond gets the nearest, what is not finite 0.
std::vector<std::uint8_t> grey_bytes(std::span<const float> values, float low, float high);

/// Returns the memory of the slices of a validation that keeps those of `cases`: as they are collected, and as text.
std::int64_t slice_bytes(const Shape& volume, std::int64_t cases);

/// Returns a case as it stands in slices.json: {"case", "planes": [{"plane", "at", "rows", "columns", "row_mm",
/// "column_mm", "image", "reference", "prediction"}], "low", "high"}. Image bytes 0 to 255 are the values `low` to
/// `high`; the first channel is shown. Images, labels: base 64 of the samples.
///   labels  of the prediction, by the numbers of `plan`
/// Errors: kInput where the files cannot be read.   Cost: reads the planes of both volumes.
nlohmann::ordered_json slices_json(const SlicePlan& plan, const PreparedCase& item, const PreparePlan& prepared,
                                   std::span<const std::uint8_t> labels);

}  // namespace voxshard
