// The networks that faults are planted in, and the table of what was found.
#pragma once

#include "tests/check/faults/fault_scene.h"

namespace voxshard::test {

/// The reference U-Net, 32 to 512 channels, of images of 32^3.
Graph reference_unet(DType dtype);
FaultSceneOptions reference_unet_scene(DType dtype);

/// A 3x3x3 convolution of as many channels as it has filters behind a norm, then a norm, a max pool, nearest
/// up-sampling and a head: the layer "conv".
FaultSceneOptions layer_scene(std::int64_t channels, std::int64_t size, DType dtype, ConvKernel kernel);

enum class Breadth : std::uint8_t {
  kOneOfAKind,  // of nodes with the same op, kernel and window the one with the most voxels; planes along one axis in
                // turn
  kTwoOfAKind,  // also the one with the most channels; every fault
};

/// Plants the faults one at a time, prints a table with a row for each, and expects each of them at its layer; and that
/// the nodes without a fault pass.
void expect_all_found(FaultScene& scene, Breadth breadth);

}  // namespace voxshard::test
