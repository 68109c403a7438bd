// The part of an image that is not zero, to which nnU-Net crops: MR images lie in a frame of zeros, CT images do not.
//
//   const Box box = nonzero_box(image.voxels);
//   Volume part = cropped(std::move(image), box);
//   Volume whole = placed_back(labels, box, image_geometry);
#pragma once

#include <vector>

#include "io/volume/volume.h"
#include "libcore/tensor/box.h"

namespace voxshard {

/// Returns the smallest box (D, H, W) that holds all voxels other than 0; the whole volume when there is none.
///   image  (D, H, W) f32
Box nonzero_box(const Tensor& image);

/// Returns the mask of voxels other than 0, with its holes filled: zeros that no path of zeros along the axes leads out
/// of. Each voxel is 1 or 0.
/// Source: scipy.ndimage.binary_fill_holes, which nnU-Net's create_nonzero_mask calls.
std::vector<char> nonzero_mask(const Tensor& image);

/// Returns the geometry of a box (D, H, W) of a volume.
Geometry cropped_geometry(const Geometry& whole, const Box& box);
/// Returns a box of a volume; the volume itself for all of it.
Volume cropped(Volume volume, const Box& box);
/// Returns a label map of the whole volume, with 0 outside of the box.
///   label  (D, H, W) i32, of the box
Volume placed_back(Volume label, const Box& box, const Geometry& whole);

}  // namespace voxshard
