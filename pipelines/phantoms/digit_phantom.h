// Generated digits, for demonstrations and tests: strokes of varied width, rotated, slanted, scaled and moved, bright
// on a dark noisy background, like MNIST's.
//
//   DigitPhantom p = make_digit_phantom({.seed = 0, .index = 13});    // p.label is 3
#pragma once

#include <cstdint>

#include "libcore/tensor/tensor.h"

namespace voxshard {

struct DigitPhantomOptions {
  std::uint64_t seed = 0;
  int index = 0;  // number of the digit; its label is index mod 10
  int side = 28;  // pixels
};

struct DigitPhantom {
  Tensor pixels;  // (side, side) u8
  std::int32_t label = 0;
};

/// The same options give the same pixels. Cost: about 0.1 ms at 28 pixels a side.   Threads: any number at once.
DigitPhantom make_digit_phantom(const DigitPhantomOptions& options);

}  // namespace voxshard
