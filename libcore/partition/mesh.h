// The mesh of cores, and how it is parsed from a user's "1x2x2x2x1".
//
// Cores are numbered replica by replica; inside a replica row-major over the partition, so core 5 of 1x2x2x2x1 holds
// part (0, 1, 0, 1, 0). Replicas cut the batch axis first; the partition's own batch entry cuts what a replica got.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/tensor/box.h"

namespace voxshard {

/// [begin, end) of one part along one axis.
using Interval = std::pair<std::int64_t, std::int64_t>;

struct Mesh {
  std::int64_t replicas = 1;
  Dims partition;  // parts per tensor axis, the last (channels) is 1

  std::int64_t cores_per_replica() const { return element_count(partition); }
  std::int64_t cores() const { return replicas * cores_per_replica(); }
  /// Parts along tensor axis `axis`; the batch axis holds the replicas too.
  std::int64_t parts(int axis) const { return axis == 0 ? replicas * partition[0] : partition[axis]; }
  /// The part that `core` holds along each axis.
  Dims part_of(std::int64_t core) const;
  friend bool operator==(const Mesh&, const Mesh&) = default;
};

/// "1x2x2x2x1", "1,2,2,2,1" or "[1, 2, 2, 2, 1]" -> dims.
/// Errors: kConfig for anything else, for entries below 1, for a cut channel axis, for another number of entries than
/// `axes`.
Dims parse_partition(std::string_view text, int axes);

/// Greedy-ceil cut of `extent` into `parts`: tiles of ceil(extent / parts), then the remainder, then empty ones.
///   example: 5 over 4 -> 2, 2, 1, 0
std::vector<Interval> greedy_ceil(std::int64_t extent, std::int64_t parts);

}  // namespace voxshard
