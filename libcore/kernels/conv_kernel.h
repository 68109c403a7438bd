// The names of the ways in which a convolution is computed: what the place that chooses (conv_table.h) records in a
// graph.
#pragma once

#include <cstdint>

namespace voxshard {

enum class ConvKernel : std::uint8_t {
  kAny,        // nobody has chosen: the first of the table without a grain
  kReference,  // the slow oracle, any type
  kLibrary,    // oneDNN, direct
  kTiled,      // our own weight gradient in f32
};
inline constexpr const char* kConvKernelNames[] = {"any", "reference", "library", "tiled"};

}  // namespace voxshard
