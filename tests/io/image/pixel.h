// The colour of one pixel of an (H, W, 3) u8 image.
#pragma once

#include <array>
#include <cstdint>

#include "libcore/tensor/tensor.h"

namespace voxshard::test {

using Pixel = std::array<std::uint8_t, 3>;

inline Pixel pixel(const Tensor& rgb, std::int64_t y, std::int64_t x) {
  const auto* p = rgb.as<std::uint8_t>() + (y * rgb.shape()[1] + x) * 3;
  return {p[0], p[1], p[2]};
}

}  // namespace voxshard::test
