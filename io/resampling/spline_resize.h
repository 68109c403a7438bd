// Resizes images to another number of samples over the same extent, with the numbers of scikit-image's
// resize(order=3, mode='edge', anti_aliasing=False), which nnU-Net calls: a cubic B-spline, half-pixel centres, the
// edge voxel repeated beyond the border, values clipped to the input's range. ITK's B-spline mirrors at the border
// instead.
//
//   Tensor small = resize_spline(std::move(image), {20, 64, 64}, std::nullopt);
//   Tensor thick = resize_spline(std::move(image), {20, 64, 64}, 0);   // slices along axis 0 are not mixed
#pragma once

#include <cstdint>
#include <optional>

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// Returns the place of sample `i` of `to` on an axis of `from` samples: half-pixel centres, in SciPy's order of
/// operations, so that ties fall alike. Example: sample 0 of 2 on an axis of 4 lies at 0.5.
inline double sample_place(std::int64_t i, std::int64_t from, std::int64_t to) {
  return (static_cast<double>(i) + 0.5) * (static_cast<double>(from) / static_cast<double>(to)) - 0.5;
}

/// Returns the sample that is nearest to sample_place(); the later one of a tie, as SciPy's order 0.
std::int64_t nearest_sample(std::int64_t i, std::int64_t from, std::int64_t to);

/// Resizes an image.
///   image   (D, H, W) f32, no extent 0
///   shape   of the result, no extent 0
///   slices  an axis along which the nearest slice is taken, and every slice is resized and clipped by itself
/// Cost: an image moved in is released after the first axis; at most two images of the larger of both sizes at once.
/// Source: scipy.ndimage.zoom(order=3, mode='nearest', grid_mode=True) of SciPy 1.10; Unser, IEEE Signal Processing
/// Magazine 16(6), 1999, for the recursive prefilter.
Tensor resize_spline(Tensor image, const Shape& shape, std::optional<int> slices);

}  // namespace voxshard
