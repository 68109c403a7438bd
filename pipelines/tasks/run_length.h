// How long a run is, and the sizes of its samples as they are and as they could be: what samplers and training tell
// each other.
#pragma once

#include <cstdint>

#include "libcore/tensor/shape.h"

namespace voxshard {

/// How long a run is.
struct RunLength {
  std::int64_t steps = 0, batch = 1;
};

/// The sizes of samples that are cropped, and of those that are not, whichever a run has.
struct SampleSizes {
  double crop_points = 0, whole_points = 0;     // voxels or pixels in the mean; no crops: 0
  Shape largest_crop = {}, largest_whole = {};  // extents of the largest possible step; no crops: without axes
  bool has_whole = true;                        // the run has samples that are not cropped
};

}  // namespace voxshard
