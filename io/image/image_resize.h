// Resizes images through OpenCV: a pixel is the mean over the area that it covers when they shrink, and interpolated
// linearly between pixel centres when they grow. A second function resizes as the original's input pipeline does.
//
//   Tensor half = resized(image, 240, 320);
#pragma once

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// (height, width, 3) f32 of an (H, W, 3) f32 image; the edges of the two coincide, so a box scales by height / H and
/// width / W. One thread; the same bytes for any number of threads.
Tensor resized(const Tensor& rgb, std::int64_t height, std::int64_t width);

/// Resizes as tf.image.resize_images of TensorFlow 1 (bilinear, align_corners=False): pixel (y, x) is interpolated
/// between the four pixels around (y H / height, x W / width), with indices clamped at the border; no averaging when it
/// shrinks.
///   example  columns 0 1 2 3 to six: 0 0.667 1.333 2 2.667 3
Tensor resized_as_tensorflow1(const Tensor& rgb, std::int64_t height, std::int64_t width);

}  // namespace voxshard
