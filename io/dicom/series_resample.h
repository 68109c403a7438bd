// Puts the slices of an irregular or tilted series on an upright regular grid, when the user asks for it.
//
//   DicomGrid grid = upright_grid(series);                    // spacing: the usual distance of the slices
//   resample_slices(series, stack, grid, SliceSampling::kLinear, voxels);
//
// Called by io/volume/dicom.cc.
#pragma once

#include <cstdint>
#include <span>

#include "io/dicom/dicom_series.h"

namespace voxshard {

/// True for a problem that resampling mends: E_GAP, E_IRREGULAR or E_TILT. (Of E_DOUBLED see doubled_slices.h.)
bool can_be_resampled(const DicomSeries& series);

/// Returns the grid along the normal of the image plane that holds all pixels of all slices: the pixel spacing of the
/// slices, and the median of their distances, fitted to the length of the scan.
DicomGrid upright_grid(const DicomSeries& series);

enum class SliceSampling : std::uint8_t { kNearest, kLinear };

/// Samples the slices on a grid of upright_grid(). A voxel is interpolated within the two slices beside it, each at its
/// own place, and between them by distance; a voxel outside of both takes the lowest value of the stack.
///   stack  slices in the order of series.slices, rows x columns each
///   out    as many voxels as grid.size says, x fastest
void resample_slices(const DicomSeries& series, std::span<const float> stack, const DicomGrid& grid,
                     SliceSampling sampling, std::span<float> out);

}  // namespace voxshard
