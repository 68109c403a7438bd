// Converts a decoded image of any pixel format to full-resolution RGB, through libswscale: with the stream's colour
// matrix and range, chroma interpolated (bicubic) to every pixel, and accurate rounding.
//
//   RgbConverter to_rgb(2);
//   to_rgb.convert(*frame, rgb);                           // (H, W, 3) u8 as stored; turning it comes after
#pragma once

#include <cstdint>
#include <memory>

#include "io/video/av.h"
#include "libcore/tensor/tensor.h"

namespace voxshard {

class RgbConverter {
 public:
  /// `threads` >= 1: number of threads that libswscale may use for one image; the result does not depend on it.
  explicit RgbConverter(int threads);
  ~RgbConverter();
  RgbConverter(RgbConverter&&) noexcept;
  RgbConverter& operator=(RgbConverter&&) noexcept;

  /// Writes `frame` into `rgb`, (H, W, 3) u8, red first; memory is reused when it fits. Size, pixel format and colours
  /// of `frame` may change from call to call. An unspecified matrix is taken as BT.601, an unspecified
  /// range as 16 to 235 (0 to 255 for grey and "yuvj" formats), as ffmpeg does. Errors: kInput for a pixel format that
  /// libswscale cannot read.   Cost: a planar copy of the image.
  void convert(const AVFrame& frame, Tensor& rgb);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace voxshard
