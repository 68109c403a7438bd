// Values of a volume at mapped places. Every voxel is computed from its own index alone, so that a sample is the same
// however its boxes are cut.
//
//   SpatialMap map = SpatialMap::around(sample_centre, volume_centre, matrix);
//   Tensor values = warp_image(volume, map, box, air);   // linear interpolation, `air` outside of the volume
//
// Called for samples of volumes (SampleSource) and of images (image_pieces.h) that are rotated or scaled.
#pragma once

#include "io/volume/mapped_volume.h"
#include "libcore/tensor/spatial_map.h"

namespace voxshard {

/// Returns the values of `box` (D H W, any place) of a volume in type `T`, float or std::int32_t; those outside of the
/// volume are `outside`.
template <class T>
Tensor read_padded(const MappedVolume& volume, const Box& box, T outside);

/// Returns the linear interpolation of f32 `values`, which hold the box `held`, at the mapped points of `box`.
/// Requires: `held` contains map.sources(box).
Tensor interpolate(const Tensor& values, const Box& held, const SpatialMap& map, const Box& box);
/// Returns the volume's values at the mapped points of `box`, (D, H, W) f32.
Tensor warp_image(const MappedVolume& volume, const SpatialMap& map, const Box& box, float outside);
/// Returns the labels at the mapped points, (D, H, W) i32: each the label with the largest weight among the eight
/// voxels around the point, the smallest of those with equal weights.
Tensor warp_labels(const MappedVolume& volume, const SpatialMap& map, const Box& box, std::int32_t outside);

}  // namespace voxshard
