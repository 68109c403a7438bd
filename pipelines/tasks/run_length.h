// How long a run is, and what its samples would be if they were not cropped: what samplers and training tell each other.
#pragma once

#include <cstdint>

#include "libcore/tensor/shape.h"

namespace voxshard {

/// How long a run is.
struct RunLength {
  std::int64_t steps = 0, batch = 1;
};

/// Samples that are not cropped.
struct WholeSamples {
  double mean_points = 0;  // voxels or pixels
  double of_crops = 0;     // the same of samples that are; 0: none are
  Shape largest = {};      // extents of the largest possible step of them
};

}  // namespace voxshard
