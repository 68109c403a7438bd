// Resamples a volume to another spacing on the same axes: the grids fill the same box of the world, so that each axis
// is interpolated by a table of places and weights. A tenth of the time of a filter that maps every voxel on its own.
//
//   Tensor work = resize_linear(std::move(image), {20, 64, 64});    // (D, H, W) f32 to (d, h, w)
//
// Called by resample.h.
#pragma once

#include <cstdint>
#include <vector>

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

/// Where the samples of a volume lie in another one: for sample j along an axis, how far its voxel lies behind that of
/// index 0, in voxels as they follow in memory; below 0: outside. Sample (z, y, x) is voxel z[.] + y[.] + x[.].
struct SamplePlaces {
  std::vector<std::int64_t> z, y, x;
};
/// Returns (D, H, W), one sample for each entry of z, y and x; 0 outside.
///   from   (D', H', W') i32 or u8, as the result; it holds all places
Tensor samples_at(const Tensor& from, const SamplePlaces& places);

}  // namespace voxshard
