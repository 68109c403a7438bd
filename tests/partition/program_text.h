// A whole program as text, written by hand: for the tests of its parser, and as a seed of the fuzzer.
#pragma once

#include <string_view>

namespace voxshard::test {

/// Two cores, a convolution and a contraction, as the partitioner makes it.
inline constexpr std::string_view kProgramByHand = R"(
  image = input : f32[1x6x4x1]
  kernel = parameter : f32[3x3x1x2]
  conv = conv %image, %kernel kernel=3x3 pad=1x1/1x1
  sum = channel_sum %conv
  cut replicas=1 partition=1x2x1x1
  value %0 cut 0:1 | 0:3 3:6 | 0:4
  held %0 [0:1, -1:4, -1:5, 0:1] [0:1, 2:7, -1:5, 0:1]
  value %2 cut 0:1 | 0:3 3:6 | 0:4
  fill_margin %0
  exchange %0 1>0 [0:1, 3:4, 0:4, 0:1], 0>1 [0:1, 2:3, 0:4, 0:1]
  pack %2
  compute %2 | [0:1, 0:3, 0:4, 0:2] | [0:1, 3:6, 0:4, 0:2]
  compute %3 partial | [0:1, 0:3, 0:4, 0:2] | [0:1, 3:6, 0:4, 0:2]
  join %3
  prologue 0
)";

}  // namespace voxshard::test
