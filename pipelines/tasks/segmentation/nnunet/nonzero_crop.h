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

/// The voxels other than 0 in any channel of a case, by which nnU-Net crops and masks all of its channels.
class NonzeroVoxels {
 public:
  /// Adds a channel, (D, H, W) f32; all have one shape.
  void add(const Tensor& image);
  /// Returns the smallest box that holds them, as nonzero_box() of a channel. Requires a channel.
  Box box() const;
  /// Returns the mask of that box with its holes filled, as nonzero_mask() of a channel.
  std::vector<char> mask() const;

 private:
  Shape shape_;
  std::vector<char> any_;  // of all voxels: 1 or 0
};

/// Returns the geometry of a box (D, H, W) of a volume.
Geometry cropped_geometry(const Geometry& whole, const Box& box);
/// Returns a box of a volume; the volume itself for all of it.
Volume cropped(Volume volume, const Box& box);
/// Returns a label map of the whole volume, with 0 outside of the box.
///   label  (D, H, W) i32, of the box
Volume placed_back(Volume label, const Box& box, const Geometry& whole);

}  // namespace voxshard
