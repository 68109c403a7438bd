// The names of the ways in which a convolution is computed: what the place that chooses (conv_table.h) records in a
// graph, and what it may choose from.
#pragma once

#include <cstdint>

namespace voxshard {

enum class ConvKernel : std::uint8_t {
  kAny,        // nobody has chosen: the first of the table without a grain
  kReference,  // the slow oracle, any type
  kLibrary,    // oneDNN, direct
  kTiled,      // our own weight gradient in f32
  kWinograd4,  // transformed tiles of 4 outputs an axis
  kWinograd2,  // of 2: sums of small integers stay exact
  kAmx,        // our own in bf16, on the tiles of AMX
};
inline constexpr const char* kConvKernelNames[] = {"any",       "reference", "library", "tiled",
                                                   "winograd4", "winograd2", "amx"};

/// What the choice is made from.
enum class Convolution : std::uint8_t {
  kFast,   // all kernels: transforms round otherwise than the sum of the products does
  kExact,  // those that sum the products themselves
};
inline constexpr Convolution kConvolutionChoices[] = {Convolution::kFast, Convolution::kExact};
inline constexpr const char* kConvolutionNames[] = {"fast", "exact"};

}  // namespace voxshard
