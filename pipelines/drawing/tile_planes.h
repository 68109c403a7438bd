// The planes of a volume that show its tiles: those through its middle, and further ones until every halo is seen.
//
//   HaloPlanes planes = planes_of(tiles, {64, 64, 64});
//   planes.planes[3].at         // of a tile that no middle plane meets
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "libcore/tensor/box.h"
#include "pipelines/drawing/drawn_sample.h"

namespace voxshard {

/// One tile with the cores that own and hold the same boxes, in which axis 0 is the sample.
struct Tile {
  Box own, held;
  std::vector<std::int64_t> cores;
};

/// Returns the voxels of other cores below and above a tile along an axis; those outside of the tensor do not count.
std::pair<std::int64_t, std::int64_t> halo(const Tile& tile, int axis, std::int64_t extent);

struct HaloPlanes {
  std::vector<SamplePlane> planes;
  std::size_t unseen = 0;  // halos, of a tile along an axis, that are seen in none of them
};

/// Returns the middle planes of a volume and, while a halo of some tile is seen in none, the plane through the middle
/// of a tile that shows most of them, up to nine in all. A plane shows the halos of the tiles that it meets, along its
/// rows and columns.
///   level  extents (D, H, W)
HaloPlanes planes_of(const std::vector<Tile>& tiles, const Dims& level);

}  // namespace voxshard
