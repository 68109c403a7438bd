// The placement of logical cores on a 2-D torus of chips: their coordinates, the distances between them and the host
// that feeds each.
//
// The cores of a replica take a block of chips, replica after replica: first the cores of a chip, then along x, then
// along y. Inside a block the core within the chip varies fastest, then y, then x (row-major in x, y, core).
//
//   Torus torus(v3, {.replicas = 8, .cores_per_replica = 16});   // on the slice of 8 x 8 chips
//   torus.place(3)      // {x 0, y 1, core 1}: core 3 of replica 0
//   torus.hops(3, 4)    // 2: from chip (0, 1) to chip (1, 0)
//
// Source: the table of blocks of TensorFlow's tpu_context.py; the order is that of its device_assignment without rings.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/device/tpu/tpu_spec.h"

namespace voxshard {

/// A core's chip and its number on that chip.
struct Place {
  std::int64_t x = 0, y = 0, core = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

/// The chips that one replica takes, and the number of cores used on each.
struct ReplicaBlock {
  std::int64_t chips_x = 1, chips_y = 1, cores = 1;
  friend bool operator==(const ReplicaBlock&, const ReplicaBlock&) = default;
};

/// The smallest block of the form 2^i x 2^j chips that holds a replica: 1x1 with 1 core, 1x1 with 2, then y, x, x, y,
/// x, y … doubled. For 1, 2, 4 … 128 cores this is the original's table; it knows no other counts.
ReplicaBlock replica_block(std::int64_t cores_per_replica, std::int64_t cores_per_chip);

struct Placement {
  std::int64_t replicas = 1;
  std::int64_t cores_per_replica = 1;
};

class Torus {
 public:
  /// Places the cores on the smallest slice of the device that holds all blocks. Errors: kConfig when there is none.
  Torus(const TpuSpec& device, const Placement& placement);

  const Slice& slice() const { return slice_; }
  std::int64_t cores() const { return static_cast<std::int64_t>(places_.size()); }
  const Place& place(std::int64_t core) const { return places_[core]; }
  /// Links between the chips of two cores on the shortest way; 0 on one chip.
  int hops(std::int64_t a, std::int64_t b) const;
  /// The host that a core is attached to; hosts are numbered row by row.
  std::int64_t host(std::int64_t core) const;
  std::int64_t hosts() const;
  /// True when the cores of some replica are attached to several hosts.
  bool replica_spans_hosts() const;

  std::int64_t chip(std::int64_t core) const { return place(core).y * slice_.chips_x + place(core).x; }
  std::int64_t links() const { return 4 * slice_.chips_x * slice_.chips_y; }
  /// Calls `visit(link)` for each directed link from core a to core b: along x first, then along y, each the short way
  /// round (upward when both are equal). Link 4 * chip + {0: x + 1, 1: x - 1, 2: y + 1, 3: y - 1} leaves that chip.
  template <class Visit>
  void route(std::int64_t a, std::int64_t b, Visit visit) const {
    Place at = place(a);
    const Place& to = place(b);
    for (std::int64_t step = steps(at.x, to.x, slice_.chips_x, slice_.wrap_x); step != 0; step += step > 0 ? -1 : 1) {
      visit(4 * (at.y * slice_.chips_x + at.x) + (step > 0 ? 0 : 1));
      at.x = (at.x + (step > 0 ? 1 : -1) + slice_.chips_x) % slice_.chips_x;
    }
    for (std::int64_t step = steps(at.y, to.y, slice_.chips_y, slice_.wrap_y); step != 0; step += step > 0 ? -1 : 1) {
      visit(4 * (at.y * slice_.chips_x + at.x) + (step > 0 ? 2 : 3));
      at.y = (at.y + (step > 0 ? 1 : -1) + slice_.chips_y) % slice_.chips_y;
    }
  }

 private:
  /// Signed number of links from one coordinate to another.
  static std::int64_t steps(std::int64_t from, std::int64_t to, std::int64_t extent, bool wrap) {
    const std::int64_t up = to - from;
    if (!wrap) return up;
    const std::int64_t forward = (up + extent) % extent;
    return 2 * forward <= extent ? forward : forward - extent;
  }

  Slice slice_;
  Placement placement_;
  std::int64_t host_chips_x_ = 1, host_chips_y_ = 1;
  std::vector<Place> places_;
};

}  // namespace voxshard
