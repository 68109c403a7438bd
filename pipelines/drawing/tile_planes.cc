#include "pipelines/drawing/tile_planes.h"

#include <algorithm>
#include <set>

namespace voxshard {
namespace {

constexpr std::size_t kMostPlanes = 9;

bool meets(const Tile& tile, const SamplePlane& plane) {
  return plane.at >= tile.own.begin[plane.fixed_axis + 1] && plane.at < tile.own.end(plane.fixed_axis + 1);
}

/// The halos of tiles, by tile and axis.
using Halos = std::set<std::pair<std::size_t, int>>;

/// Returns the halos of `halos` that are seen in a plane: those of the tiles that it meets, along its rows and columns.
Halos seen_in(const SamplePlane& plane, const std::vector<Tile>& tiles, const Halos& halos) {
  Halos seen;
  for (const auto& one : halos)
    if (one.second != plane.fixed_axis && meets(tiles[one.first], plane)) seen.insert(one);
  return seen;
}

}  // namespace

std::pair<std::int64_t, std::int64_t> halo(const Tile& tile, int axis, std::int64_t extent) {
  return {tile.own.begin[axis] - std::clamp<std::int64_t>(tile.held.begin[axis], 0, extent),
          std::clamp<std::int64_t>(tile.held.end(axis), 0, extent) - tile.own.end(axis)};
}

HaloPlanes planes_of(const std::vector<Tile>& tiles, const Dims& level) {
  Halos left;
  std::vector<SamplePlane> planes;
  for (std::size_t i = 0; i < tiles.size(); ++i)
    for (int a = 0; a < level.axes(); ++a)
      if (halo(tiles[i], a + 1, level[a]) != std::pair<std::int64_t, std::int64_t>{0, 0}) left.insert({i, a});
  const auto add = [&](const SamplePlane& plane) {
    for (const auto& one : seen_in(plane, tiles, left)) left.erase(one);
    planes.push_back(plane);
  };
  for (int fixed = 0; fixed < 3; ++fixed) add({fixed, level[fixed] / 2});
  while (!left.empty() && planes.size() < kMostPlanes) {
    SamplePlane best;
    std::size_t most = 0;
    for (int fixed = 0; fixed < 3; ++fixed)
      for (const Tile& tile : tiles) {
        const SamplePlane plane{fixed, tile.own.begin[fixed + 1] + tile.own.extent[fixed + 1] / 2};
        if (const std::size_t seen = seen_in(plane, tiles, left).size(); seen > most) best = plane, most = seen;
      }
    add(best);
  }
  return {.planes = std::move(planes), .unseen = left.size()};
}

}  // namespace voxshard
