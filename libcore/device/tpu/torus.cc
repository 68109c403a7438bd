#include "libcore/device/tpu/torus.h"

#include <algorithm>
#include <cstdlib>

#include "libcore/base/error.h"

namespace voxshard {
namespace {

/// The number of blocks that fit into a slice along x, along y and within a chip.
struct BlockGrid {
  std::int64_t x = 0, y = 0, per_chip = 0;
  std::int64_t count() const { return x * y * per_chip; }
};

BlockGrid grid_of(const Slice& slice, const ReplicaBlock& block, std::int64_t cores_per_chip) {
  return {slice.chips_x / block.chips_x, slice.chips_y / block.chips_y, cores_per_chip / block.cores};
}

}  // namespace

ReplicaBlock replica_block(std::int64_t cores_per_replica, std::int64_t cores_per_chip) {
  ReplicaBlock block;
  while (block.cores < cores_per_replica && 2 * block.cores <= cores_per_chip) block.cores *= 2;
  auto full = [&] { return block.cores * block.chips_x * block.chips_y >= cores_per_replica; };
  if (!full()) block.chips_y = 2;  // the table begins with y: 4 cores are [1, 2, 1, 2]
  if (!full()) block.chips_x = 2;
  while (!full()) (block.chips_x == block.chips_y ? block.chips_x : block.chips_y) *= 2;
  return block;
}

Torus::Torus(const TpuSpec& device, const Placement& placement)
    : placement_(placement), host_chips_x_(device.host_chips_x), host_chips_y_(device.host_chips_y) {
  const ReplicaBlock block = replica_block(placement.cores_per_replica, device.cores_per_chip);
  BlockGrid grid;
  for (const Slice& slice : device.slices) {
    slice_ = slice;
    grid = grid_of(slice, block, device.cores_per_chip);
    if (grid.count() >= placement.replicas) break;
  }
  if (grid.count() < placement.replicas)
    throw Error(ErrorKind::kConfig, "[device] " + device.name + " has no slice for " +
                                        std::to_string(placement.replicas) + " replicas of " +
                                        std::to_string(placement.cores_per_replica) + " cores; it has slices of " +
                                        device.slice_names() + " cores; use fewer cores");
  for (std::int64_t replica = 0; replica < placement.replicas; ++replica) {
    const std::int64_t chips = replica / grid.per_chip;
    const Place first{chips % grid.x * block.chips_x, chips / grid.x * block.chips_y,
                      replica % grid.per_chip * block.cores};
    for (std::int64_t core = 0; core < placement.cores_per_replica; ++core) {
      const std::int64_t chip = core / block.cores;
      places_.push_back(
          {first.x + chip / block.chips_y, first.y + chip % block.chips_y, first.core + core % block.cores});
    }
  }
}

int Torus::hops(std::int64_t a, std::int64_t b) const {
  const Place &from = place(a), &to = place(b);
  return static_cast<int>(std::abs(steps(from.x, to.x, slice_.chips_x, slice_.wrap_x)) +
                          std::abs(steps(from.y, to.y, slice_.chips_y, slice_.wrap_y)));
}

std::int64_t Torus::host(std::int64_t core) const {
  const std::int64_t across = (slice_.chips_x + host_chips_x_ - 1) / host_chips_x_;
  return place(core).y / host_chips_y_ * across + place(core).x / host_chips_x_;
}

std::int64_t Torus::hosts() const {
  return (slice_.chips_x + host_chips_x_ - 1) / host_chips_x_ * ((slice_.chips_y + host_chips_y_ - 1) / host_chips_y_);
}

bool Torus::replica_spans_hosts() const {
  for (std::int64_t core = 0; core < cores(); ++core)
    if (host(core) != host(core - core % placement_.cores_per_replica)) return true;
  return false;
}

}  // namespace voxshard
