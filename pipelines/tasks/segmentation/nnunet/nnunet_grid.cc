#include "pipelines/tasks/segmentation/nnunet/nnunet_grid.h"

#include <algorithm>

#include "io/resampling/label_resize.h"
#include "io/resampling/spline_resize.h"

namespace voxshard {
namespace {

/// Spacings that differ by less are equal: headers hold them as f32.
constexpr double kSpacingRounding = 1e-6;

bool is_anisotropic(const std::array<double, 3>& mm) {
  const auto [least, most] = std::minmax_element(mm.begin(), mm.end());
  return *most / *least > kAnisotropy;
}

std::optional<int> widest_axis(const std::array<double, 3>& mm) {
  const auto widest = std::max_element(mm.begin(), mm.end());
  const auto shared =
      std::count_if(mm.begin(), mm.end(), [&](double s) { return *widest - s <= kSpacingRounding * *widest; });
  if (shared > 1) return std::nullopt;
  return 2 - static_cast<int>(widest - mm.begin());  // x, y, z are axes 2, 1, 0
}

}  // namespace

std::optional<int> slice_axis(const std::array<double, 3>& from_mm, const std::array<double, 3>& to_mm) {
  if (is_anisotropic(from_mm)) return widest_axis(from_mm);
  return is_anisotropic(to_mm) ? widest_axis(to_mm) : std::nullopt;
}

Volume nnunet_image(Volume image, const std::array<double, 3>& spacing_mm) {
  const Geometry grid = respaced(image.geometry, spacing_mm);
  const auto slices = slice_axis(image.geometry.spacing, spacing_mm);
  return {grid, resize_spline(std::move(image.voxels), grid.shape(), slices)};
}

Volume nnunet_label(Volume label, const std::array<double, 3>& spacing_mm) {
  const Geometry grid = respaced(label.geometry, spacing_mm);
  if (grid.size == label.geometry.size) return {grid, std::move(label.voxels)};
  const auto slices = slice_axis(label.geometry.spacing, spacing_mm);
  return {grid, resize_labels(label.voxels, grid.shape(), slices, LabelRule::kHalf)};
}

Volume nnunet_restored(Volume label, const Geometry& grid, const std::array<double, 3>& prepared_mm) {
  if (grid.size == label.geometry.size) return {grid, std::move(label.voxels)};
  return {grid, resize_labels(label.voxels, grid.shape(), slice_axis(prepared_mm, grid.spacing), LabelRule::kLargest)};
}

}  // namespace voxshard
