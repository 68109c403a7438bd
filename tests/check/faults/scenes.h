// The networks that faults are planted in, and the printed table of the faults that were found.
#pragma once

#include "libcore/check/equivalence.h"
#include "tests/check/faults/fault_scene.h"

namespace voxshard::test {

/// Returns the reference U-Net, 32 to 512 channels, for images of 32^3.
Graph reference_unet(DType dtype);
FaultSceneOptions reference_unet_scene(DType dtype);

/// Returns a network around the layer "conv", a 3x3x3 convolution with as many filters as input channels: a norm before
/// it, then a norm, a max pool, nearest up-sampling and a head.
FaultSceneOptions layer_scene(std::int64_t channels, std::int64_t size, DType dtype, ConvKernel kernel);

/// Returns the uses of that kernel in the layer "conv" that the rows of the convolution table compute on this
/// processor, one per pass, whatever the scene has; empty: none.
std::set<KernelUse> uses_of_layer(std::int64_t channels, std::int64_t size, DType dtype, ConvKernel kernel);

/// Returns a norm, the mean over 16x16x20 voxels of two samples and the dense head of a classifier.
FaultSceneOptions mean_scene(DType dtype);

enum class Breadth : std::uint8_t {
  kOneOfAKind,  // per op, kernel and window the node with the most voxels; missing planes along one axis, in
                // turn
  kTwoOfAKind,  // also the one with the most channels; every fault
};

/// Plants the faults one at a time and prints a table with a row for each. Expects each fault to be found at its layer,
/// and the nodes without a fault to pass. Expects at least one fault in each use of `expected` and of the scene, and in
/// each pass of a convolution.
void expect_all_found(FaultScene& scene, Breadth breadth, std::set<KernelUse> expected = {});

/// Returns a lowering whose program leaves out the part of one core where it computes `layer`; sets `had_a_share` to
/// whether the core had one.
EquivalenceOptions::Lower without_a_share(const std::string& layer, std::size_t core, bool& had_a_share);

}  // namespace voxshard::test
