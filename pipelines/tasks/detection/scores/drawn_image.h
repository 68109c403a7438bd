// A validated image as the page of a run shows it: small and as JPEG, with the boxes of its objects and those that were
// detected.
//
//   const Tensor small = small_copy(pixels);                                   // before the pixels are normalised
//   drawn.push_back({.image = 3, .ap50 = 0.5, .jpeg = jpeg_text(small)});
#pragma once

#include <cstdint>
#include <string>

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// The longest side of such an image; longer ones are scaled down to it.
inline constexpr std::int64_t kMostDrawnSide = 512;

struct DrawnImage {
  std::size_t image = 0;  // of the data set
  double ap50 = 0;        // of this image alone
  std::string jpeg = {};  // base 64
};

/// Returns a copy for people, (H, W, 3) u8, with no side above kMostDrawnSide.
///   rgb  (H, W, 3) f32, 0 to 1
Tensor small_copy(const Tensor& rgb);

/// Returns an image (H, W, 3) u8 as JPEG in base 64.
std::string jpeg_text(const Tensor& rgb);

/// Returns the memory of a small copy of the largest image while it is made, and of `images` that are kept as text.
std::int64_t drawn_bytes(std::int64_t pixels, std::int64_t images);

}  // namespace voxshard
