#include "libcore/kernels/winograd/bricks.h"

namespace voxshard::winograd {
namespace {

/// Planes of `tiles` tiles, whose voxels along H and W are counted by `extent`.
Planes planes_of(const TileForm& form, const int* tiles, std::int64_t blocks,
                 std::int64_t (*extent)(const TileForm& form, int axis, std::int64_t tiles)) {
  return {.data = nullptr,
          .blocks = blocks,
          .depth = tiles[0],
          .height = extent(form, 1, tiles[1]),
          .width = extent(form, 2, tiles[2])};
}

}  // namespace

Dims brick_of(const TileForm& form, std::int64_t most_tiles) {
  Dims brick = {1, 1, 1};
  while (2 * brick[0] * brick[1] * brick[2] <= most_tiles) {
    int axis = 2;  // the shortest axis, W before H before D
    for (int a = 1; a >= 0; --a)
      if (brick[a] < brick[axis] && form.inputs[a] > 1) axis = a;
    brick[axis] *= 2;
  }
  return brick;
}

Planes patch_planes(const TileForm& form, const int* tiles, std::int64_t blocks) {
  return planes_of(form, tiles, blocks, patch_extent);
}

Planes output_planes(const TileForm& form, const int* tiles, std::int64_t blocks) {
  return planes_of(form, tiles, blocks, output_extent);
}

Slabs carve_slabs(Carver& carver, const TileForm& form, std::int64_t blocks, std::int64_t tiles) {
  Slabs slabs{.data = nullptr, .blocks = blocks, .positions = plane_positions(form)};
  slabs.data = carver.floats(ceil_div(tiles, kTilesPerSlab) * slabs.group());
  return slabs;
}

float* carve_planes(Carver& carver, const TileForm& form, const Planes& largest) {
  return carver.floats(form.inputs[0] * largest.position());
}

}  // namespace voxshard::winograd
