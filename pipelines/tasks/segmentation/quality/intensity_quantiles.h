// The intensities of a prepared image as a few quantiles, and how far two images lie apart by them. They are taken on
// the prepared grid, in training and in `predict` alike, so that both see what the network sees.
//
//   const Quantiles found = intensity_quantiles(prepared.image.voxels);
//   quantile_distance(found, usual)            // in the unit of the prepared image
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// Number of quantiles: (i + 0.5) / kQuantiles for i from 0.
inline constexpr std::size_t kQuantiles = 33;
/// Ascending values, kQuantiles of them; none for an image without a voxel inside of its range.
using Quantiles = std::vector<float>;

/// Returns the quantiles of at most 65,536 voxels, spread evenly over 16 planes that are spread evenly. Where more than
/// 1 % of the voxels have the least value of all, these are left out, and so is the largest value: they are the air, or
/// the zeros, that clipping or a mask has put around a body, and how much of it an image shows says nothing about its
/// intensities. Voxels that are not finite, as a broken preparation makes them, are passed over.
///   shape  (D, H, W)
///   plane  returns the H x W voxels of a plane, which are read before the next call
/// Memory: 256 KiB.
Quantiles intensity_quantiles(const Shape& shape, const std::function<const float*(std::int64_t plane)>& plane);
///   image  (D, H, W) f32
Quantiles intensity_quantiles(const Tensor& image);

/// Returns the earth mover's distance between two distributions, the mean distance of their quantiles; infinite where
/// one of them is empty.
/// Source: Y. Rubner et al., The Earth Mover's Distance as a Metric for Image Retrieval, 2000; in one dimension it is
/// the distance between the inverse distribution functions.
double quantile_distance(const Quantiles& a, const Quantiles& b);

}  // namespace voxshard
