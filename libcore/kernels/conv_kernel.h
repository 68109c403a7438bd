// The names of the kernels that compute a convolution: conv_table.h records its choice in the graph by these names and
// may be restricted to some of them.
#pragma once

#include <cstdint>

namespace voxshard {

enum class ConvKernel : std::uint8_t {
  kAny,        // not chosen: the first of the table without a grain
  kReference,  // the slow oracle, any type
  kLibrary,    // oneDNN, direct
  kTiled,      // voxshard's own f32 weight gradient
  kWinograd4,  // transformed tiles of 4 outputs per axis
  kWinograd2,  // tiles of 2 outputs: sums of small integers stay exact
  kAmx,        // voxshard's own in bf16, on AMX tiles
};
inline constexpr const char* kConvKernelNames[] = {"any",       "reference", "library", "tiled",
                                                   "winograd4", "winograd2", "amx"};

/// The kernels allowed in the choice.
enum class Convolution : std::uint8_t {
  kFast,   // all kernels: transforms round differently from a sum of the products
  kExact,  // kernels that sum the products themselves
};
inline constexpr Convolution kConvolutionChoices[] = {Convolution::kFast, Convolution::kExact};
inline constexpr const char* kConvolutionNames[] = {"fast", "exact"};

}  // namespace voxshard
