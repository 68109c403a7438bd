// Pictures at another size, through OpenCV: the mean over what a pixel covers when they shrink, linear between the
// centres of pixels when they grow.
//
//   Tensor half = resized(picture, 240, 320);
#pragma once

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// (height, width, 3) f32 of an (H, W, 3) f32 picture; the edges of the two coincide, so a box scales by height / H and
/// width / W. One thread; the same bytes for any number of threads.
Tensor resized(const Tensor& rgb, std::int64_t height, std::int64_t width);

}  // namespace voxshard
