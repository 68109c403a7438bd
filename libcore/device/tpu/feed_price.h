// The time that the hosts take to bring a step's samples to the cores, in the mode PER_HOST_V2: the host of logical
// core 0 of each replica unpacks the whole samples of that replica and sends slices to the cores, over the network if
// they belong to another host. So where a replica spans two hosts, only every second host feeds.
//
//   feed_price(v3, torus, {.record_bytes = 8.6e9})   // 256^3 on 128 cores: 8 of 16 hosts unpack 1.07 GB each
#pragma once

#include "libcore/device/device.h"
#include "libcore/device/tpu/torus.h"

namespace voxshard {

/// The bytes that pass through the busiest host of a step.
struct HostLoad {
  double record_bytes = 0;   // unpacked
  double network_bytes = 0;  // sent to other hosts
  double chip_bytes = 0;     // arriving at one chip
  std::int64_t feeding_hosts = 0;
};

HostLoad host_load(const Torus& torus, const Placement& placement, const Feed& feed);

/// Returns the time of the slowest of unpacking, network and transfer to the chips: they overlap, on different samples.
double feed_seconds(const TpuSpec& device, const HostLoad& load);

}  // namespace voxshard
