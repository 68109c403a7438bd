// The sample in a drawing of tiles: a user's input, or a generated one, at the extents of the network.
//
//   DrawnSample ct = read_drawn_sample("work/images/liver_03.nii", 3);
//   Tensor slice = ct.view({.fixed_axis = 0, .at = 24}, {48, 40, 56}, {24, 20, 28});   // the axial slice at half the
//   resolution
#pragma once

#include <filesystem>
#include <string>

#include "io/volume/volume.h"
#include "libcore/tensor/tensor.h"

namespace voxshard {

/// One plane of a sample: in a volume the one at index `at` of its axis 0 (D), 1 (H) or 2 (W); the whole of an image.
struct SamplePlane {
  int fixed_axis = -1;  // -1: an image
  std::int64_t at = 0;  // in voxels of the level
};

class DrawnSample {
 public:
  /// `voxels`: (D, H, W) f32 of a volume, or (H, W, 3) u8 of an image, red first.
  DrawnSample(std::string name, Tensor voxels);

  const std::string& name() const { return name_; }
  /// (D, H, W) or (H, W).
  Dims extents() const;

  /// Returns the plane in the voxels of a level, as the network sees the sample: padded at the far ends to `padded`,
  /// then resampled to `level`, each (D, H, W) or (H, W). The result is (rows, columns, 3) u8; volumes are grey from
  /// the 0.5th to the 99.5th percentile, padding is black. No side is longer than 2048: beyond that the plane is
  /// coarser than the level.
  Tensor view(const SamplePlane& plane, const Dims& padded, const Dims& level) const;

 private:
  std::string name_;
  Tensor voxels_;
  float low_ = 0, high_ = 1;  // values that become black and white
};

/// Reads a volume, reoriented to LPS as in training, for three spatial axes; an image or a frame of a video
/// ("clip.mp4#frame=17") for two. Errors: kInput as read_image and ImageReader.
DrawnSample read_drawn_sample(const std::filesystem::path& file, int spatial_axes,
                              const VolumeFormats& formats = volume_formats());

/// Returns the first phantom of `voxshard demo`, a CT or an image.
DrawnSample phantom_sample(int spatial_axes);

}  // namespace voxshard
