// Resamples a volume to another spacing on the same axes: the grids fill the same box of the world, so that each axis
// is interpolated by a table of places and weights. A tenth of the time of a filter that maps every voxel on its own.
//
//   resize_linear(image, result);    // (D, H, W) f32 to (d, h, w)
//
// Called by resample.h.
#pragma once

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// Interpolates linearly along each axis. Sample j of m lies at (j + 0.5) * n / m - 0.5 of n; beyond the first and the
/// last voxel their values count. In double, on one thread: the same bits on every machine.
///   from, to   (D, H, W) f32
void resize_linear(const Tensor& from, Tensor& to);
/// The same with the nearest voxel, of two at one distance the one with the higher index.
///   from, to   (D, H, W) i32
void resize_nearest(const Tensor& from, Tensor& to);

}  // namespace voxshard
