// What communication costs on the torus, in a simple way that can be followed by hand.
//
//   exchange    Each copy takes the route of torus.h and puts its bytes on every directed link of it. The exchange
//               takes as long as its busiest link, or the busiest path between the cores of a chip, or a core that
//               reads what it sends and writes what it gets; and on top the latency of its farthest message.
//   all-reduce  Cores of a chip first, then rings along x, then along y on what is left of the bytes, and back. A ring
//               that does not close has no second direction and takes twice as long.
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
  std::vector<double> link_bytes_, path_bytes_, core_bytes_;  // per link; sent to the same chip; sent and got
};

/// The sum of `bytes` over `cores`, on each of them at the end. Nothing for fewer than two cores. A stage among n
/// members sends 2 (n - 1) / n of its bytes.
///   example: 8 cores on 2 x 2 chips that do not wrap send their bytes B once over the path of each chip, B along x and
///   B / 2 along y: link_s = B / core path + 1.5 B / link; 4 hops one after the other.
InstructionPrice all_reduce_price(const TpuSpec& device, const Torus& torus, std::span<const std::int64_t> cores,
                                  double bytes);

}  // namespace voxshard
