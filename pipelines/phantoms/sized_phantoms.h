// Phantoms of a given size, for models that see one size only and for golden cases: the voxels and pixels of the other
// phantoms, the nearest one at each place.
//
//   Volume ct = phantom_of_size(0, {40, 36, 32}, {2, 2, 3});     // 32 slices of 36 x 40 voxels
//   Tensor picture = picture_of_size(28, 28);
#pragma once

#include <array>
#include <cstdint>

#include "io/volume/volume.h"

namespace voxshard {

/// Returns the CT of make_phantom() on a grid of that size, with axes along LPS.
///   index       number of the patient
///   size        voxels along x, y, z, each at least 1
///   spacing_mm  as the header says it; the anatomy is scaled with it
Volume phantom_of_size(int index, const std::array<std::int64_t, 3>& size, const std::array<double, 3>& spacing_mm);

/// Returns (height, width, 3) u8: an image of make_detection_phantom(), shrunk or enlarged.
Tensor picture_of_size(std::int64_t height, std::int64_t width);

}  // namespace voxshard
