// The bricks of tiles that one round of transforms and products works on, and its buffers.
#pragma once

#include "libcore/kernels/winograd/tiles.h"

namespace voxshard::winograd {

/// Result blocks of 16 channels of one round of products.
inline constexpr std::int64_t kRoundBlocks = 4;

/// Most tiles of a brick: transformed weights are used so often per time that they are fetched.
inline constexpr std::int64_t kBrickTiles = 64;

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
