// How nnU-Net brings volumes to another spacing: cubic splines for images, linear masks for labels, and slices that are
// far apart are never mixed.
//
//   const auto slices = slice_axis(ct.geometry.spacing, target_mm);       // axis 0, with slices of 5 mm at 0.8 mm
//   Volume work = nnunet_image(std::move(ct), target_mm);
#pragma once

#include <array>
#include <optional>

#include "io/volume/volume.h"

namespace voxshard {

/// A spacing is anisotropic when its largest is more than so many times its smallest. Source: nnU-Net,
/// configuration.py.
inline constexpr double kAnisotropy = 3;

/// Returns the axis of (D, H, W) along which the nearest slice is taken: that of the largest spacing, where the spacing
/// that the volume has, else the one that it gets, is anisotropic; none otherwise, and none where two axes share the
/// largest spacing.
///   spacing  x, y, z in mm
/// Source: nnU-Net, default_resampling.py.
std::optional<int> slice_axis(const std::array<double, 3>& from_mm, const std::array<double, 3>& to_mm);

/// Resamples an image (f32) or a label map (i32) to a spacing, on the grid respaced(geometry, spacing_mm).
Volume nnunet_image(Volume image, const std::array<double, 3>& spacing_mm);
Volume nnunet_label(Volume label, const std::array<double, 3>& spacing_mm);

/// Resamples a predicted label map from the prepared grid to `grid`, which covers the same extent: every voxel takes
/// the label of the largest linearly interpolated mask. nnU-Net interpolates the probabilities of all classes instead,
/// in as many volumes as there are classes.
///   prepared_mm  the spacing of the plan
Volume nnunet_restored(Volume label, const Geometry& grid, const std::array<double, 3>& prepared_mm);

}  // namespace voxshard
