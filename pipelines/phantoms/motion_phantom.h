// Generated clips of a random texture that moves or rotates, for demonstrations and tests. A single frame contains no
// information about the motion: the texture is a sum of plane waves of random direction and phase, whose distribution
// does not change when it is moved or rotated.
//
//   MotionPhantom p = make_motion_phantom({.seed = 0, .index = 8});    // p.label is 2: "left"
#pragma once

#include <array>
#include <cstdint>

#include "libcore/tensor/tensor.h"

namespace voxshard {

/// Names by label; the direction of rotation is the one seen on the screen, with rows growing downwards.
inline constexpr std::array<const char*, 6> kMotionNames = {"clockwise", "counterclockwise", "left", "right", "up",
                                                            "down"};

struct MotionPhantomOptions {
  std::uint64_t seed = 0;
  int index = 0;  // number of the clip; its label is index mod 6
  int side = 32;  // pixels
  int frames = 24;
};

struct MotionPhantom {
  Tensor frames;  // (T, side, side) u8
  std::int32_t label = 0;
};

/// The texture moves by 1/40 to 1/20 of the side a frame, or turns by 4 to 7 degrees a frame about a point in the
/// middle third. The same options give the same pixels. Cost: about 5 ms at 24 x 32 x 32.   Threads: any number at
/// once.
MotionPhantom make_motion_phantom(const MotionPhantomOptions& options);

}  // namespace voxshard
