// The bricks of tiles that one round of transforms and products works on, and its buffers.
#pragma once

#include "libcore/kernels/winograd/tiles.h"

namespace voxshard::winograd {

/// Result blocks of 16 channels of one round of products.
inline constexpr std::int64_t kRoundBlocks = 4;

/// Tiles of a brick. The transformed weights of one position along D are read once per brick, from memory where they
/// are large (256 to 256 channels: 9.4 MB); else fewer tiles, so that what such a position needs stays in a level-2
/// cache. Measured with AVX-512, 2 MB of level 2, GFLOP/s of the direct count with 32 and 64: 64 to 64 channels 476 and
/// 387, 128 to 128 540 and 490, 256 to 256 522 and 578; weight gradients 462 and 384, 454 and 423, 269 and 249.
inline constexpr std::int64_t kBrickTiles = 32, kLargeBrickTiles = 64, kLargeWeightsBytes = 4 << 20;

/// One brick's tiles along D, H, W; for a weight gradient, whose sums are cut at bricks, this is all that decides.
Dims brick_of(const TileForm& form, std::int64_t most_tiles);

/// Positions along H and W, of one along D.
inline std::int64_t plane_positions(const TileForm& form) { return form.inputs[1] * form.inputs[2]; }
/// Voxels along an axis that `tiles` patches or outputs take.
inline std::int64_t patch_extent(const TileForm& form, int axis, std::int64_t tiles) {
  return (tiles - 1) * form.outputs[axis] + form.inputs[axis];
}
inline std::int64_t output_extent(const TileForm& form, int axis, std::int64_t tiles) {
  return tiles * form.outputs[axis];
}

/// Planes for the patches, or the outputs, of tiles[3] tiles; without memory.
Planes patch_planes(const TileForm& form, const int* tiles, std::int64_t blocks);
Planes output_planes(const TileForm& form, const int* tiles, std::int64_t blocks);

/// Slabs for `tiles` tiles.
Slabs carve_slabs(Carver& carver, const TileForm& form, std::int64_t blocks, std::int64_t tiles);
/// Memory for planes of all positions along D, for bricks of up to this size.
float* carve_planes(Carver& carver, const TileForm& form, const Planes& largest);

}  // namespace voxshard::winograd
