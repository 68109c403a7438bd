// Images at another size, through OpenCV: the mean over what a pixel covers when they shrink, linear between the
// centres of pixels when they grow. Or as the original's input pipeline does it.
//
//   Tensor half = resized(image, 240, 320);
#pragma once

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// (height, width, 3) f32 of an (H, W, 3) f32 image; the edges of the two coincide, so a box scales by height / H and
/// width / W. One thread; the same bytes for any number of threads.
Tensor resized(const Tensor& rgb, std::int64_t height, std::int64_t width);

/// As tf.image.resize_images of TensorFlow 1 (bilinear, align_corners=False): pixel (y, x) is linear between the four
/// around (y H / height, x W / width), whose index is cut at the border; what shrinks is not averaged.
///   example  columns 0 1 2 3 to six: 0 0.667 1.333 2 2.667 3
Tensor resized_as_tensorflow1(const Tensor& rgb, std::int64_t height, std::int64_t width);

}  // namespace voxshard
