// The bricks of tiles that one round of transforms and products works on, and its buffers.
#pragma once

#include "libcore/kernels/winograd/tiles.h"

namespace voxshard::winograd {

/// Result blocks of 16 channels of one round of products.
inline constexpr std::int64_t kRoundBlocks = 4;

/// Tiles of a brick. The transformed weights of one position along D are read once per brick, from memory where they
/// are large (256 to 256 channels: 9.4 MB). Otherwise bricks have fewer tiles, so that the data of one such position
/// stay in a level-2 cache. Measured with AVX-512, 2 MB of level 2, GFLOP/s of the direct count with 32 and 64: 64 to
/// 64 channels 476 and 387, 128 to 128 540 and 490, 256 to 256 522 and 578; weight gradients 462 and 384, 454 and 423,
/// 269 and 249.
inline constexpr std::int64_t kBrickTiles = 32, kLargeBrickTiles = 64, kLargeWeightsBytes = 4 << 20;

/// One brick's tiles along D, H, W. Weight gradients are summed brick by brick, so this alone fixes the order of their
/// sums.
Dims brick_of(const TileForm& form, std::int64_t most_tiles);

/// The number of positions along H and W for one position along D.
inline std::int64_t plane_positions(const TileForm& form) { return form.inputs[1] * form.inputs[2]; }
/// The number of voxels along an axis that `tiles` patches, or outputs, take.
inline std::int64_t patch_extent(const TileForm& form, int axis, std::int64_t tiles) {
  return (tiles - 1) * form.outputs[axis] + form.inputs[axis];
}
inline std::int64_t output_extent(const TileForm& form, int axis, std::int64_t tiles) {
  return tiles * form.outputs[axis];
}

/// Planes for the patches, or the outputs, of tiles[3] tiles; no memory is attached.
Planes patch_planes(const TileForm& form, const int* tiles, std::int64_t blocks);
Planes output_planes(const TileForm& form, const int* tiles, std::int64_t blocks);

/// Carves slabs for `tiles` tiles.
Slabs carve_slabs(Carver& carver, const TileForm& form, std::int64_t blocks, std::int64_t tiles);
/// Carves memory for planes of all positions along D, for bricks of up to this size.
float* carve_planes(Carver& carver, const TileForm& form, const Planes& largest);

}  // namespace voxshard::winograd
