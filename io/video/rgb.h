// A decoded image of any pixel format as full-resolution RGB, through libswscale: colour matrix and range of the
// stream, chroma interpolated (bicubic) to every pixel, sums rounded accurately.
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
  /// `threads` >= 1: how many libswscale may use for one image; the result does not depend on it.
  explicit RgbConverter(int threads);
  ~RgbConverter();
  RgbConverter(RgbConverter&&) noexcept;
  RgbConverter& operator=(RgbConverter&&) noexcept;

  /// Writes `frame` into `rgb`, (H, W, 3) u8, red first; memory is reused when it fits. What `frame` says about size,
  /// pixel format and colours may change from call to call. A matrix that is not stated is taken as BT.601, an unstated
  /// range as 16 to 235 (0 to 255 for grey and "yuvj" formats), as ffmpeg does. Errors: kInput for a pixel format that
  /// libswscale cannot read.   Cost: a planar copy of the image.
  void convert(const AVFrame& frame, Tensor& rgb);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace voxshard
