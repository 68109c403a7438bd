// Resamples a volume to another spacing on the same axes: the grids fill the same box of the world, so that each axis
// is interpolated by a table of places and weights. A tenth of the time of a filter that maps every voxel on its own.
//
//   Tensor work = resize_linear(std::move(image), {20, 64, 64});    // (D, H, W) f32 to (d, h, w)
//
// Called by resample.h.
#pragma once

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// Interpolates linearly along each axis. Sample j of m lies at (j + 0.5) * n / m - 0.5 of n; beyond the first and the
/// last voxel their values count. In double, on one thread: the same bits on every machine.
///   from   (D, H, W) f32
///   shape  of the result
/// Memory: slices of `from` are released as soon as no later one of the result needs them, so that both together take
/// the larger of the two and two slices of each.
Tensor resize_linear(Tensor from, const Shape& shape);
/// The same with the nearest voxel, of two at one distance the one with the higher index.
///   from   (D, H, W) i32 or u8, as the result
Tensor resize_nearest(Tensor from, const Shape& shape);

}  // namespace voxshard
