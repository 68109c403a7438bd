// Puts volumes on other grids: exact permutations and flips to an orientation, and resampling to a spacing or to the
// grid of another volume. Labels take the nearest voxel, images are interpolated linearly or with a cubic B-spline.
// Samples outside of the source take the nearest edge voxel for a change of spacing; on the grid of another volume
// images get -1000 (or `outside`), labels 0.
//
//   Volume lps = reorient(ct, "LPS");
//   Volume work = resample_image(lps, {1.5, 1.5, 3});
//   Volume back = resample_label_to(prediction, ct.geometry);
#pragma once

#include <array>
#include <string>

#include "io/volume/volume.h"

namespace voxshard {

enum class Interpolation { kNearest, kLinear, kCubic };

/// The same voxels with axes permuted and flipped so that orientation_code is `code`; every voxel stays where it was in
/// the world. Exact, no interpolation; works for f32 and i32. A volume that already has the orientation is moved, not
/// copied; axes that only flip are flipped in place.
/// Errors: kConfig when `code` is not one letter each of L/R, P/A, S/I.
Volume reorient(Volume volume, const std::string& code);
/// True when reorient() makes a second volume. Errors: as there.
bool permutes_axes(const Geometry& from, const std::string& code);

/// An image (f32) at another spacing, on the grid respaced(volume.geometry, spacing_mm); values stay within the input's
/// range. Returns the volume itself when no size changes. Errors: kConfig for a spacing that is not > 0.
Volume resample_image(Volume volume, const std::array<double, 3>& spacing_mm,
                      Interpolation interpolation = Interpolation::kLinear);
/// A label map (i32 or u8) at another spacing, nearest voxel.
Volume resample_label(Volume volume, const std::array<double, 3>& spacing_mm);

/// An image on `grid`; voxels whose centre lies outside the source get `outside`.
Volume resample_image_to(const Volume& volume, const Geometry& grid,
                         Interpolation interpolation = Interpolation::kLinear, double outside = -1000);
/// A label map on `grid`, nearest voxel, 0 outside the source; brings predictions back to the original grid.
/// Where axes_agree() by a table for each axis, else by ITK's filter, to the same voxels.
Volume resample_label_to(Volume volume, const Geometry& grid);
/// True when the axes of both grids run exactly along those of the world, permuted and flipped as they may be: then the
/// nearest index along each axis of `from` depends on the index along one axis of `to` alone, to the last bit. False
/// also for some permuted `from`, whose matrix ITK inverts with a rounding error; that of a prepared grid is diagonal.
bool axes_agree(const Geometry& from, const Geometry& to);

}  // namespace voxshard
