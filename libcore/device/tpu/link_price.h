// The cost of communication on the torus, by a simple model that can be checked by hand.
//
//   exchange    Each copy takes the route of torus.h and puts its bytes on every directed link of it. The time is that
//   of
//               the slowest of: the busiest link, the busiest path between the cores of a chip, and the core that reads
//               and writes most for what it sends and receives; plus the latency of the farthest message.
//   all-reduce  The cores of a chip first, then rings along x, then rings along y on the share of the bytes that is
//   left,
//               and back. A ring that does not close has no second direction and takes twice as long.
#pragma once

#include <span>

#include "libcore/device/device.h"
#include "libcore/device/tpu/torus.h"

namespace voxshard {

/// Prices many exchanges on one torus; its tables of loads are kept between calls.
class ExchangePricer {
 public:
  ExchangePricer(const TpuSpec& device, const Torus& torus);
  InstructionPrice price(std::span<const Copy> copies, std::int64_t element_bytes);

 private:
  const TpuSpec& device_;
  const Torus& torus_;
  std::vector<double> link_bytes_, path_bytes_, core_bytes_;  // per link; sent to the same chip; sent and received
};

/// Prices an all-reduce of `bytes` over `cores`: each of them has the sum at the end. Fewer than two cores cost
/// nothing. A stage among n members sends 2 (n - 1) / n of its bytes.
///   example: 8 cores on 2 x 2 chips that do not wrap send their bytes B once over the path of each chip, B along x and
///   B / 2 along y: link_s = B / core path + 1.5 B / link; 4 hops one after the other.
InstructionPrice all_reduce_price(const TpuSpec& device, const Torus& torus, std::span<const std::int64_t> cores,
                                  double bytes);

}  // namespace voxshard
