// Puts a volume with sheared axes on an upright regular grid, when the user asks for it. The rows and columns of its
// slices stay as they are; each slice is moved to where the header says that it lies.
//
//   VolumeInfo info = upright_info(nifti_header(path), IrregularSlices::kResample);   // W_RESAMPLED
//   Volume ct = read_upright(nifti_header(path), DType::kF32, IrregularSlices::kResample);
//
// Called by the formats whose headers hold a matrix, and for channels on grids of their own.
#pragma once

#include "io/volume/voxel_source.h"

namespace voxshard {

/// Returns the grid that holds the centres of all voxels of a sheared one: x as it is, y turned to a right angle within
/// the slices, z their normal; along each the distance of the planes.
Geometry upright_grid(const Geometry& sheared);

/// Samples a volume on a grid: images between the 8 voxels around each place, labels at the nearest voxel. Places
/// outside of the volume take its lowest value, labels 0.
///   volume  f32 or i32; its direction may be sheared
Volume resample_on_grid(const Volume& volume, const Geometry& grid);

/// Returns what `header` says, with the upright grid when `irregular` asks for it.
VolumeInfo upright_info(const VolumeHeader& header, IrregularSlices irregular);
/// Reads as read_voxels, on that grid.
Volume read_upright(VolumeHeader header, DType dtype, IrregularSlices irregular);
/// Reads the same bytes without keeping them, as check_voxels.
void check_upright(VolumeHeader header, IrregularSlices irregular);

}  // namespace voxshard
